import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import Support

/// Problems between this machine and the store: clock, TLS, addresses, proxies.
@Suite(.crowd) struct DoctorNetworkTests: DoctorSuite {
  @Test("a clock 20 minutes off: 77 with the skew; five minutes are a warning, and the upload works in both")
  func clock() async throws {
    let box = try box()
    box.fake.setClockOffset(1200)
    let said = try await doctor(box, "s3://bucket")
    said.expect("clock", exit: 77, says: ["20 min behind the store's"], mends: "timedatectl")
    #expect(said["upload"]?.mark == "ok", "\(said.all)")
    box.fake.setClockOffset(-300)
    try await doctor(box, "s3://bucket").expect(
      "clock", "warn", exit: 0, says: ["5 min ahead of the store's"], mends: "timedatectl")
    box.expectNothingLeft()
  }

  @Test("a certificate of an unknown authority: 69 with its issuer, and no credential is sent")
  func selfSigned() async throws {
    var box = try box(secure: true)
    box.environment["AWS_CA_BUNDLE"] = nil
    let said = try await doctor(box, "s3://bucket")
    said.expect("tls", exit: 69, says: ["does not trust", " by "], mends: "--ca-bundle")
    #expect(said["connection"]?.mark == "ok")
    #expect(box.fake.requests.allSatisfy { $0.headers["authorization"] == nil })
    box.expectNothingLeft()
  }

  @Test("an unusable bundle is 78; a server without TLS is named as such")
  func badTLS() async throws {
    var box = try box(secure: true)
    box.environment["AWS_CA_BUNDLE"] = "/nonexistent.pem"
    try await doctor(box, "s3://bucket").expect(
      "settings", exit: 78, says: ["AWS_CA_BUNDLE", "/nonexistent.pem: No such file"], mends: "PEM")
    box.environment["AWS_CA_BUNDLE"] = try box.files.write("no certificate", to: "bad.pem")
    try await doctor(box, "s3://bucket").expect("tls", exit: 78, says: ["bundle"], mends: "--ca-bundle")
    box.environment["AWS_CA_BUNDLE"] = nil
    box.environment["AWS_ENDPOINT_URL_S3"] = "https://127.0.0.1:\(box.fake.port)"
    try await doctor(box, "s3://bucket").expect("tls", exit: 69, says: ["not with TLS"], mends: "http://")
  }

  @Test("a refused connection: 75 at once")
  func nothingListening() async throws {
    let box = try box()
    box.fake.stop()
    let lag = Lag()
    let said = try await doctor(box, "s3://bucket")
    said.expect("connection", exit: 75, says: ["port \(box.fake.port)", "refused"], mends: "endpoint")
    #expect(said["credentials"]?.mark == "ok" && said["bucket"] == nil)
    #expect(.seconds(said.seconds) - lag.sofar < .seconds(10))
  }

  @Test("a store that does not answer gets the given timeout")
  func silent() async throws {
    var box = try box()
    let mute = try LocalService { _ in .init(200, "", .hang) }
    box.environment["AWS_ENDPOINT_URL_S3"] = mute.url
    let lag = Lag()
    let said = try await doctor(box, "s3://bucket", "--stall-timeout", "1s", "--connect-timeout", "1s")
    said.expect("connection", exit: 75, says: [], mends: "endpoint")
    #expect(.seconds(said.seconds) - lag.sofar < .seconds(10))
  }

  @Test("if packets are dropped, it ends within a quarter of a minute", .enabled(if: NetworkNamespace.obstacle == nil))
  func hole() async throws {
    let net = try NetworkNamespace(addresses: ["10.11.12.13/32"])
    let hole = try net.hole("10.11.12.13", port: 80)
    var made = try box()
    made.environment["AWS_ENDPOINT_URL_S3"] = "http://10.11.12.13"
    made.environment["AWS_ENDPOINT_URL_STS"] = "http://10.11.12.13"
    let box = made
    let lag = Lag()
    let child = try net.run { try box.start(["doctor", "s3://bucket", "--json"]) }
    let said = Said(await child.wait(timeout: .seconds(60)))
    #expect(.seconds(said.seconds) - lag.sofar < .seconds(15))
    said.expect("connection", exit: 75, says: [], mends: "endpoint")
    #expect(said["identity"]?.mark == "warn")
    withExtendedLifetime(hole) {}
  }

  @Test("a store that refuses the connection is 75, and nothing is said of a TLS that was not tried")
  func refused() async throws {
    var box = try box()
    box.environment["AWS_ENDPOINT_URL_S3"] = "http://127.0.0.1:1"
    box.environment["AWS_SESSION_TOKEN"] = nil
    let said = try await doctor(box, "s3://bucket")
    said.expect("connection", exit: 75, says: [], mends: "endpoint")
    #expect(said["tls"] == nil, "\(said.all)")
    #expect(said["credentials"]?.message.hasSuffix("from environment, which do not expire") == true, "\(said.all)")
  }

  @Test("a name without an address: 75")
  func noName() async throws {
    var box = try box()
    box.environment["AWS_ENDPOINT_URL_S3"] = "http://s3.nowhere.invalid"
    try await doctor(box, "s3://bucket").expect("address", exit: 75, says: ["s3.nowhere.invalid"], mends: "name server")
  }

  @Test("a proxy is named without its password; an unreachable one is reported as such, and so is an exemption from it")
  func proxies() async throws {
    var box = try box()
    box.environment["http_proxy"] = "http://user:pAssw0rd@127.0.0.1:9"
    let dead = try await doctor(box, "s3://bucket")
    dead.expect("connection", exit: 75, says: ["the proxy http://127.0.0.1:9"], mends: "NO_PROXY=127.0.0.1")
    #expect(!dead.all.contains("pAssw0rd"))
    box.environment["NO_PROXY"] = "127.0.0.0/8"
    let direct = try await doctor(box, "s3://bucket")
    #expect(direct.status == 0 && direct["proxy"]?.message == "none for this store, as NO_PROXY says", "\(direct.all)")
    box.environment["NO_PROXY"] = nil
    let picky = try LocalService { _ in .init(407) }
    box.environment["http_proxy"] = picky.url
    try await doctor(box, "s3://bucket").expect("connection", exit: 77, says: ["password"], mends: "http_proxy")
    box.expectNothingLeft()
  }

  @Test("through a working proxy everything succeeds, and the addresses are reported as the proxy's")
  func workingProxy() async throws {
    var box = try box(secure: true)
    box.environment["HTTPS_PROXY"] = box.fake.endpoint
    let said = try await doctor(box, "s3://bucket")
    #expect(said.status == 0 && said["proxy"]?.message == "\(box.fake.endpoint) (HTTPS_PROXY)", "\(said.all)")
    #expect(said["address"]?.message.hasPrefix("127.0.0.1 (the proxy") == true)
    box.expectNothingLeft()
  }
}
