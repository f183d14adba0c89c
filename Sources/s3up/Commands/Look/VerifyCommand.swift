import Glibc
import MultipartCore

/// `s3up verify FILE s3://BUCKET/KEY`
struct VerifyCommand {
  private let session: Session

  init(_ session: Session) { self.session = session }

  func run() async throws(Failure) {
    let (source, url) = try PutSource.read(session.invocation)
    let (name, start) = (source.name.text, session.world.uptime())
    let place = Place(file: name, bucket: url.bucket, key: url.key)
    do throws(Failure) {
      let limit = session.options.upload.deadline
      try await RunAlarm.run(limit, session.world, grace: .zero) { (alarm) async throws(Failure) in
        let object = try await verify(source.input(errors: nil), url)
        let took = session.world.uptime() - start
        try alarm.disarm()
        try session.say(
          session.paint(STDOUT_FILENO).result(
            object.line(source: name, bucket: url.bucket, key: url.key ?? "", took: took)),
          json: Event.verified(Event.Subject(place), object, took: took).json)
      }
    } catch {
      throw error.at(place)
    }
  }

  private func verify(_ input: UploadInput, _ url: S3URL) async throws(Failure) -> VerifiedObject {
    let options = try VerifyOptions(session)
    return try await session.stoppable { [session] () async throws(Failure) in
      let (store, key) = (try await session.store(url.bucket), url.key ?? "")
      let verification = try await store.verify(input, is: key, options)
      if case .absent = verification { throw await store.absence(of: key, versionID: options.versionID) }
      return try verification.proven()
    }
  }
}
