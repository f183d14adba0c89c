import Foundation
import MultipartCore

/// Uploads to a bucket in all the ways that the library offers, and checks the results.
///
///     AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=… Example http://127.0.0.1:9000 my-bucket
@main struct Example {
  let options: StoreOptions
  let bucket: String
  let folder: URL

  static func main() async throws {
    let words = CommandLine.arguments
    guard words.count == 3 else {
      FileHandle.standardError.write(Data("usage: Example ENDPOINT BUCKET\n".utf8))
      exit(64)
    }
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("multipart-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var options = StoreOptions(endpoint: words[1])
    options.stateFolder = folder.appendingPathComponent("state").path
    do {
      try await Example(options: options, bucket: words[2], folder: folder).run()
    } catch {
      try? FileManager.default.removeItem(at: folder)
      FileHandle.standardError.write(Data("Example: \(error)\n".utf8))
      exit(1)
    }
  }

  func run() async throws {
    try await uploadFile()
    try await bringBack()
    try await uploadStream()
    try await refuseHalfAStream()
    try await cancelAndResume()
    try await goStepByStep()
    try await presign()
    try await explainFailure()
    try await uploadOften()
    print("all of it worked")
  }

  func uploadFile() async throws {
    let path = try file("photo.jpg", megabytes: 12)
    let store = try await Store(bucket: bucket, options)
    var upload = UploadOptions()
    upload.object.metadata = [NamedValue("made-by", "example")]
    upload.partSize = 5 << 20
    let task = try store.uploadTask(.file(path), to: "example/photo.jpg", upload) { event in
      if case .part(let number, let size, _, _) = event { print("part \(number): \(size) bytes") }
    }
    let object = try await task.run()
    try expect(object.size == 12 << 20 && object.parts == 3, "three parts went up")
    try expect(task.progress.bytes == 12 << 20 && task.progress.partsDone == 3, "progress is at its end")
    let found = try await store.head("example/photo.jpg")
    try expect(found?.size == 12 << 20 && found?.contentType == "image/jpeg", "the object is there, with its type")
    try expect(found?.metadata.first?.value == "example", "with its metadata")
    print("uploaded: \(object.evidence)")
  }

  /// Downloads into a file, as a sequence of bytes, and from a URL without credentials.
  func bringBack() async throws {
    let store = try await Store(bucket: bucket, options)
    let sent = try Data(contentsOf: folder.appendingPathComponent("photo.jpg"))
    let file = folder.appendingPathComponent("back.jpg")
    let download = try store.downloadTask("example/photo.jpg", to: .file(file.path))
    let object = try await download.run()
    try expect(try Data(contentsOf: file) == sent, "the file is back")
    try expect(download.progress.bytes == 12 << 20 && !object.evidence.isEmpty, "progress is at its end")
    var bytes = Data()
    for try await piece in store.bytes(of: "example/photo.jpg") { bytes += piece }
    try expect(bytes == sent, "and so are its bytes")
    var presign = PresignOptions()
    presign.givesChecksums = true
    let url = try await store.presign(.get, "example/photo.jpg", for: .seconds(600), presign).url
    var again = DownloadOptions()
    again.overwrites = true
    try await PresignedObject(url, options).download(to: .file(file.path), again)
    try expect(try Data(contentsOf: file) == sent, "also without credentials")
    print("brought back: \(object.evidence)")
  }

  func uploadStream() async throws {
    let store = try await Store(bucket: bucket, options)
    let chunks = AsyncStream<[UInt8]> { stream in
      for number in 0..<100 { stream.yield([UInt8](repeating: UInt8(number), count: 100_000)) }
      stream.finish()
    }
    let object = try await store.upload(.stream(chunks), to: "example/stream")
    try expect(object.size == 10_000_000, "the whole stream went up")
  }

  func refuseHalfAStream() async throws {
    struct Broken: Error {}
    let store = try await Store(bucket: bucket, options)
    let chunks = AsyncThrowingStream<[UInt8], any Error> { stream in
      stream.yield([UInt8](repeating: 1, count: 6 << 20))
      stream.finish(throwing: Broken())
    }
    do throws(Failure) {
      try await store.upload(.stream(chunks), to: "example/half")
      throw Failure(.local, "half a stream was published")
    } catch {
      try expect(error.code == .sourceMissing, "a stream that breaks is an error: \(error.code)")
    }
    try expect(try await store.head("example/half") == nil, "and nothing of it is published")
    try expect(try await store.uploads(prefix: "example/half").isEmpty, "or left behind")
  }

  /// Cancelling a task keeps the parts at the store; the next upload of the file resumes them.
  func cancelAndResume() async throws {
    let path = try file("large", megabytes: 40)
    var slow = options
    slow.limitRate = .bytesPerSecond(20 << 20)
    slow.connections = .fixed(2)
    let store = try await Store(bucket: bucket, slow)
    var upload = UploadOptions()
    upload.partSize = 5 << 20
    let (parts, arrived) = AsyncStream<Int>.makeStream()
    let task = Task { [upload] in
      try await store.upload(.file(path), to: "example/large", upload) { event in
        if case .part(let number, _, _, _) = event { arrived.yield(number) }
      }
    }
    for await _ in parts.prefix(2) {}
    task.cancel()
    do {
      _ = try await task.value
      throw Failure(.local, "a cancelled upload ended well")
    } catch let failure as Failure {
      try expect(failure.code == .interrupted && failure.isResumable, "it was stopped and can be resumed")
    }
    try expect(try await store.uploads(prefix: "example/large").count == 1, "its parts are at the store")
    let object = try await Store(bucket: bucket, options).upload(.file(path), to: "example/large", upload)
    try expect(object.bytesResumed >= 10 << 20, "what was there is not sent again")
    try expect(object.size == 40 << 20, "and the object is whole")
    try expect(try await store.uploads(prefix: "example/large").isEmpty, "and nothing is left")
  }

  func goStepByStep() async throws {
    let path = try file("steps", megabytes: 11)
    let store = try await Store(bucket: bucket, options)
    let upload = try await store.createUpload("example/steps")
    try await upload.part(2, .file(path), offset: 6 << 20)
    let first = try await upload.part(1, .file(path), offset: 0, length: 6 << 20)
    let parts = try await upload.parts()
    try expect(parts.map(\.number) == [1, 2] && parts.first?.size == first.size, "both parts are there")
    try expect(try await upload.complete().size == 11 << 20, "and make the object")
    let other = try await store.createUpload("example/steps-2")
    try await other.part(1, .file(path), length: 5 << 20)
    try expect(try await other.abort() == .aborted, "an upload is aborted")
    try expect(try await store.uploads(prefix: "example/steps").isEmpty, "and nothing is left")
  }

  func presign() async throws {
    let store = try await Store(bucket: bucket, options)
    let url = try await store.presign(.get, "example/stream", for: .seconds(60))
    try expect(url.url.contains("X-Amz-Signature="), "a URL is signed")
    let curl = Process()
    curl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    curl.arguments = ["curl", "-sSf", "-o", folder.appendingPathComponent("back").path, url.url]
    try curl.run()
    curl.waitUntilExit()
    let size = try FileManager.default.attributesOfItem(atPath: folder.appendingPathComponent("back").path)[.size]
    try expect((size as? Int) == 10_000_000, "and gives the object to whoever holds it")
  }

  /// A failure's remedy can be read as values.
  func explainFailure() async throws {
    let store = try await Store(bucket: bucket, options)
    var upload = UploadOptions()
    upload.partSize = 1 << 20
    do throws(Failure) {
      try await store.upload(.file(try file("small", megabytes: 2)), to: "example/small", upload)
      throw Failure(.local, "parts of 1 MiB were taken")
    } catch {
      try expect(error.code == .usage && error.remedy?.settings == [.partSize], "the part size is to blame")
    }
  }

  /// Checks that stores without references leave no thread, descriptor or memory behind.
  func uploadOften() async throws {
    let path = folder.appendingPathComponent("tiny").path
    try Data("tiny".utf8).write(to: URL(fileURLWithPath: path))
    func upload(_ count: Int) async throws {
      for number in 0..<count {
        let store = try await Store(bucket: bucket, options)
        try await store.upload(.file(path), to: "example/tiny-\(number % 10)")
      }
    }
    try await upload(10)
    let before = try Holdings()
    try await upload(990)
    var after = try Holdings()
    // Swift's own pool creates threads on demand, up to one per core. A store's threads end a moment after the store
    // was released, and only the system's count shows that: it is polled, for ten seconds at most.
    let spare = ProcessInfo.processInfo.activeProcessorCount + 6
    func isBack() -> Bool {
      after.threads <= before.threads + spare && after.descriptors <= before.descriptors + spare
    }
    for _ in 0..<100 where !isBack() {
      try await Task.sleep(for: .milliseconds(100))
      after = try Holdings()
    }
    print("after 10 uploads: \(before); after 1,000: \(after)")
    try expect(isBack(), "nothing is left behind")
    // The allocator returns the memory of large files in steps of 10 MiB; a leak in 990 stores would be larger.
    try expect(after.memory <= before.memory + (24 << 20), "and memory does not grow")
  }

  func file(_ name: String, megabytes: Int) throws(Failure) -> String {
    let path = folder.appendingPathComponent(name).path
    var bytes = [UInt8](repeating: 0, count: megabytes << 20)
    var state: UInt64 = 7
    for index in stride(from: 0, to: bytes.count, by: 8) {
      state = state &* 6_364_136_223_846_793_005 &+ 1
      bytes[index] = UInt8(truncatingIfNeeded: state >> 56)
    }
    guard FileManager.default.createFile(atPath: path, contents: Data(bytes)) else {
      throw Failure(.local, "\(path) cannot be written")
    }
    return path
  }

  func expect(_ holds: Bool, _ what: String) throws(Failure) {
    guard holds else { throw Failure(.local, "not so: \(what)") }
    print("ok: \(what)")
  }
}
