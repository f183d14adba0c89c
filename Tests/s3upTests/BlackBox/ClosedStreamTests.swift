import Foundation
import Testing

@testable import Support

/// Standard streams that are closed at the start.
@Suite(.crowd) struct ClosedStreamTests {
  @Test("no file or socket gets the number of a closed standard stream, and with it what is printed")
  func closedBeforeSockets() async throws {
    let box = try BlackBox(faults: [Fault(.init(.createMultipartUpload), .stall(stage: .beforeBody))])
    let environment = Programs.environment(home: box.binary.home.path).merging(box.environment) { $1 }
    let child = try ChildProcess(
      Programs.find("sh"), ["-c", "exec \"$0\" create s3://bucket/k -vv <&- >&- 2>&-", box.binary.path],
      environment: environment, directory: box.files.path)
    #expect(await box.fake.wait { $0.count == 1 })
    for descriptor in 0...2 {
      let target = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(child.pid)/fd/\(descriptor)")
      #expect(target == "/dev/null")
    }
    child.signal(SIGTERM)
    #expect(await child.wait().status == 143)
  }

  /// Why /dev cannot be hidden from one process here, as in a chroot; nil if it can.
  private static let obstacle: String? = {
    do {
      let pid = try Spawn.run(
        Programs.find("unshare"), ["-rm", "true"], environment: Programs.environment(home: "/nonexistent"),
        directory: nil, streams: [])
      var status: Int32 = 0
      while waitpid(pid, &status, 0) < 0, errno == EINTR {}
      return status == 0 ? nil : "no mount namespace can be made here"
    } catch {
      return "no mount namespace can be made here: \(error)"
    }
  }()

  @Test(
    "even without /dev/null, nothing gets the number of a closed standard stream",
    .enabled(if: obstacle == nil, "\(obstacle ?? "")"), arguments: [false, true])
  func closedWithoutNull(puts: Bool) async throws {
    let box = try BlackBox(faults: puts ? [] : [Fault(.init(.createMultipartUpload), .stall(stage: .beforeBody))])
    let bytes = try box.sample("f", 6 * mebi)
    let environment = Programs.environment(home: box.binary.home.path).merging(box.environment) { $1 }
    let words = puts ? "put f s3://bucket/k --part-size 5M" : "create s3://bucket/k"
    // An empty folder is mounted over /dev, visible only to this process.
    let child = try ChildProcess(
      Programs.find("unshare"),
      ["-rm", "sh", "-c", "mount -t tmpfs none /dev && exec \"$0\" \(words) -vv <&- >&- 2>&-", box.binary.path],
      environment: environment, directory: box.files.path)
    if puts {
      #expect(await child.wait(timeout: .seconds(100)).signal == nil)
      #expect(box.fake.object("k")?.holds(bytes) == true)
      #expect(box.fake.requests.allSatisfy { $0.status == 200 })
    } else {
      #expect(await box.fake.wait { $0.count == 1 })
      for descriptor in 0...2 {
        let target = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(child.pid)/fd/\(descriptor)")
        #expect(target == "/")
      }
      child.signal(SIGTERM)
      #expect(await child.wait().status == 143)
    }
    #expect(try box.files.read("f") == bytes)
  }

  @Test(
    "closed standard streams do not change a byte of the upload",
    arguments: ["2>&-", ">&- 2>&-", "<&- 2>&-", "<&- >&- 2>&-"])
  func closedStreams(_ streams: String) async throws {
    for secure in [false, true] {
      let box = try BlackBox(secure: secure)
      let bytes = try box.sample("f", 6 * mebi)
      let result = try await box.shell(
        "\"$S3UP\" put f s3://bucket/k --part-size 5M -vv --json=all \(streams); echo $? >status")
      #expect(result.errors == "")
      let status = String(decoding: try box.files.read("status"), as: UTF8.self)
      #expect(status == (streams.contains(">&- 2") ? "74\n" : "0\n"))
      #expect(box.fake.object("k")?.holds(bytes) == true)
      #expect(box.fake.requests.allSatisfy { $0.status == 200 })
      #expect(try box.files.read("f") == bytes)
    }
  }
}
