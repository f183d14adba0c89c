import MultipartBasics
import Support
import Testing

@testable import MultipartCore

@Suite(.timeLimit(.minutes(15))) struct BodySenderTests {
  private let directory: TemporaryDirectory
  private let clock = TestWorld()

  init() throws {
    directory = try TemporaryDirectory()
    try directory.write([1, 2, 3], to: "file")
  }

  private static let md5 = "5289df737df57326fcdd22597afb1fac"
  private static let opaque: HeaderList = ["ETag": "\"x\""]
  private static let same: HeaderList = ["ETag": "\"\(md5)\""]
  private static let other: HeaderList = ["ETag": "\"0123456789abcdef0123456789abcdef\""]

  /// A sender of three bytes to a store with scripted answers.
  private struct Rig {
    let store: ScriptedStore
    let sender: BodySender
    let slice: PartSlice

    func part(_ form: ChecksumForm, isCopy: Bool = false, createNamedEncryption: Bool = false) async throws(Failure)
      -> PartReceipt
    {
      try await sender.sendPart(
        slice, number: 1, uploadID: "id", form: form, fresh: false, isCopy: isCopy,
        createNamedEncryption: createNamedEncryption)
    }

    /// The proof, or the code of the failure.
    func outcome(_ form: ChecksumForm, createNamedEncryption: Bool = false) async -> Outcome {
      do throws(Failure) {
        return .proof(try await part(form, createNamedEncryption: createNamedEncryption).proof)
      } catch {
        return .failure(error.code)
      }
    }

    func sum(_ algorithm: ChecksumAlgorithm) throws -> Checksum {
      try #require(try slice.checksums([algorithm], unless: { false })[algorithm])
    }
  }

  private enum Outcome: Equatable {
    case proof(PartProof)
    case failure(Failure.Code)
  }

  private func rig(
    signsPayload: Bool = false, _ change: (inout UploadJob) throws -> Void = { _ in },
    answer: @escaping @Sendable (Request, Int) async throws(Failure) -> Response
  ) throws -> Rig {
    let file = try SourceFile(FilePath(directory.path("file")))
    var job = UploadJob(file: file, to: ObjectAddress("bucket", "key"))
    try change(&job)
    let store = ScriptedStore(answer)
    let sender = BodySender(
      client: try store.client(clock.world, signsPayload: signsPayload), job: job, asked: try job.requested(),
      progress: TransferProgress(total: 3, parts: 1))
    return Rig(store: store, sender: sender, slice: PartSlice(file: file, offset: 0, length: 3))
  }

  private func rig(
    _ headers: HeaderList, signsPayload: Bool = false, _ change: (inout UploadJob) throws -> Void = { _ in }
  ) throws -> Rig {
    try rig(signsPayload: signsPayload, change) { _, _ in Response(status: 200, headers: headers) }
  }

  // MARK: - What a request carries

  @Test("A part's request carries the checksum of its form, and no other")
  func carried() async throws {
    let forms: [(form: ChecksumForm, header: String?)] = [
      (.algorithm(.crc64nvme), "x-amz-checksum-crc64nvme"), (.algorithm(.crc32c), "x-amz-checksum-crc32c"),
      (.algorithm(.sha256), "x-amz-checksum-sha256"), (.md5, "Content-MD5"), (.nothing, nil),
    ]
    for signsPayload in [false, true] {
      for (form, header) in forms {
        let rig = try rig(Self.opaque, signsPayload: signsPayload)
        _ = try await rig.part(form)
        let request = try #require(rig.store.requests.first)
        #expect(request.step == "part 1" && request.body.length == 3)
        let value: String? =
          switch form {
          case .algorithm(let algorithm): try rig.sum(algorithm).base64
          case .md5: try rig.sum(.md5).base64
          case .nothing: nil
          }
        for name in forms.compactMap(\.header) {
          #expect(request.headers[name] == (name == header ? value : nil), "\(form): \(name)")
        }
        #expect(
          request.headers["x-amz-content-sha256"] == (signsPayload ? try rig.sum(.sha256).hex : "UNSIGNED-PAYLOAD"))
      }
    }
  }

  @Test("A request that locks an object carries a Content-MD5 even without a requested checksum")
  func locked() async throws {
    let rig = try rig(Self.opaque) { $0.object.legalHold = true }
    _ = try await rig.part(.nothing)
    #expect(rig.store.requests.first?.headers["Content-MD5"] == (try rig.sum(.md5).base64))
  }

  // MARK: - What an answer proves

  @Test("A checksum that the store returns is the proof, and another one means that it received other bytes")
  func givenBack() async throws {
    let sum = try rig(Self.opaque).sum(.crc64nvme).base64
    for (text, outcome) in [
      (sum, .proof(.checksum)), ("AAAAAAAAAAA=", .failure(.dataMismatch)), ("no checksum", .failure(.dataMismatch)),
    ] as [(String, Outcome)] {
      // A right ETag does not help, and a wrong one does not matter if the checksum is right.
      for headers in [Self.same, Self.other] {
        var headers = headers
        headers.add("x-amz-checksum-crc64nvme", text)
        #expect(try await rig(headers).outcome(.algorithm(.crc64nvme)) == outcome, "\(text)")
      }
    }
    // A checksum of another algorithm than the one sent does not count.
    var headers = Self.opaque
    headers.add("x-amz-checksum-crc32", "AAAAAA==")
    #expect(try await rig(headers).outcome(.algorithm(.crc64nvme)) == .proof(.none))
  }

  @Test("Without a returned checksum an ETag that is the MD5 is the proof, and that of other bytes a failure")
  func etag() async throws {
    for (form, signs, opaque) in [
      (.algorithm(.crc64nvme), false, .none), (.md5, false, .contentMD5), (.nothing, true, .signedPayload),
      (.nothing, false, .none), (.md5, true, .signedPayload),
    ] as [(ChecksumForm, Bool, PartProof)] {
      let name = "\(form), payload signed: \(signs)"
      #expect(try await rig(Self.opaque, signsPayload: signs).outcome(form) == .proof(opaque), "\(name)")
      #expect(try await rig(Self.same, signsPayload: signs).outcome(form) == .proof(.etag), "\(name)")
      #expect(try await rig(Self.other, signsPayload: signs).outcome(form) == .failure(.dataMismatch), "\(name)")
      #expect(try await rig([:], signsPayload: signs).outcome(form) == .failure(.server), "\(name)")
    }
    // The comparison is switched off.
    #expect(try await rig(Self.other) { $0.checksum = .nothing }.outcome(.nothing) == .proof(.none))
  }

  @Test("The receipt has the ETag as the store gave it, and a checksum of the bytes that were sent")
  func receipt() async throws {
    let checked = try rig(Self.same)
    let receipt = try await checked.part(.algorithm(.crc64nvme))
    let sum = try checked.sum(.crc64nvme)
    #expect(
      receipt
        == PartReceipt(number: 1, size: 3, etag: "\"\(Self.md5)\"", checksum: sum, proof: .etag, localSum: sum))
    let plain = try rig(Self.opaque, signsPayload: true)
    let signed = try await plain.part(.nothing)
    #expect(signed.checksum == nil)
    #expect(signed.localSum == (try plain.sum(.sha256)))
  }

  // MARK: - Encryption

  @Test("A part whose answer does not confirm encryption with the customer's key is refused")
  func customerKey() async throws {
    let keyMD5 = "x-amz-server-side-encryption-customer-key-MD5"
    let key = try CustomerKey([UInt8](repeating: 7, count: 32))
    #expect(try await rig(Self.opaque) { $0.address.customerKey = key }.outcome(.md5) == .failure(.refused))
    // The key must be confirmed, whatever create has answered.
    let silent = try rig(Self.opaque) { $0.address.customerKey = key }
    #expect(await silent.outcome(.md5, createNamedEncryption: true) == .failure(.refused))
    var confirmed = Self.other
    confirmed.add("x-amz-server-side-encryption-customer-algorithm", "AES256")
    confirmed.add("x-amz-server-side-encryption-customer-key-MD5", silent.store.requests[0].headers[keyMD5] ?? "")
    // The ETag of encrypted bytes is not compared with them.
    #expect(try await rig(confirmed) { $0.address.customerKey = key }.outcome(.md5) == .proof(.contentMD5))
  }

  @Test("A part's answer may omit the encryption that create has named, but not name another")
  func encryption() async throws {
    for (named, created, isTaken) in [
      (nil, false, false), (nil, true, true), ("aws:kms", true, true), ("aws:kms", false, true),
      ("AES256", true, false), ("AES256", false, false),
    ] as [(String?, Bool, Bool)] {
      var headers = Self.opaque
      headers.add("x-amz-server-side-encryption", named)
      let rig = try rig(headers) { $0.encryption = ServerSideEncryption(.kms) }
      let outcome = await rig.outcome(.md5, createNamedEncryption: created)
      #expect(outcome == (isTaken ? .proof(.contentMD5) : .failure(.refused)), "\(named ?? "nothing") \(created)")
    }
  }

  // MARK: - Progress and the source

  @Test("The bytes of a failed try are subtracted, and a part that arrives twice counts once")
  func progress() async throws {
    let seen = Locked<TransferProgress?>(nil)
    let rig = try rig { (request, number) throws(Failure) in
      request.onSent?(3)
      request.onAcknowledged?(2)
      let progress = seen.withLock { $0 }
      #expect(progress?.bytes == (number < 3 ? 2 : 5) && progress?.connections == 1)
      #expect(progress?.moved(TransferProgress.Transfer(part: 1, isCopy: number == 3)) == 3)
      if number == 1 { throw Failure(.network, "the connection broke") }
      return Response(status: 200, headers: Self.opaque)
    }
    let progress = rig.sender.progress
    seen.withLock { $0 = progress }
    await #expect(throws: Failure.self) { try await rig.part(.nothing) }
    #expect(progress.bytes == 0 && progress.partsDone == 0 && progress.bytesSent == 3)
    for isCopy in [false, true] {
      _ = try await rig.part(.nothing, isCopy: isCopy)
      #expect(progress.bytes == 3 && progress.partsDone == 1 && progress.connections == 0)
      #expect(progress.moved(TransferProgress.Transfer(part: 1, isCopy: isCopy)) == nil)
    }
    #expect(progress.bytesSent == 9)
  }

  @Test("A part of a file that changes while it is sent fails because of that, whatever the store answers")
  func changed() async throws {
    for answer in [Response(status: 200, headers: Self.same), .error(400, "BadDigest"), nil] {
      let directory = directory
      try directory.write([1, 2, 3], to: "file")
      let rig = try rig { (_, _) throws(Failure) in
        _ = try? directory.write([1, 2, 3, 4], to: "file")
        guard let answer else { throw Failure(.network, "the connection broke") }
        return answer
      }
      #expect(await rig.outcome(.md5) == .failure(.sourceChanged))
      #expect(rig.sender.progress.bytes == 0 && rig.sender.progress.partsDone == 0)
      // Nothing more of the part is sent.
      #expect(await rig.outcome(.md5) == .failure(.sourceChanged))
      #expect(rig.store.requests.count == 1)
    }
  }

  @Test("A published object stays a success even if the file changes later, unless its checksum differs")
  func changedWhole() async throws {
    let right = try rig(Self.opaque).sum(.crc64nvme).base64
    for (text, isTaken) in [(right, true), ("AAAAAAAAAAA=", false)] {
      let directory = directory
      try directory.write([1, 2, 3], to: "file")
      let rig = try rig { (_, _) throws(Failure) in
        _ = try? directory.write([1, 2, 3, 4], to: "file")
        var headers = Self.other
        headers.add("x-amz-checksum-crc64nvme", text)
        return Response(status: 200, headers: headers)
      }
      let sums = try await rig.sender.sums(of: rig.slice, .algorithm(.crc64nvme))
      let proof: PartProof?
      do throws(Failure) {
        proof = try await rig.sender.put(rig.slice, form: .algorithm(.crc64nvme), sums: sums, fresh: false).sent.proof
      } catch {
        proof = nil
      }
      #expect(proof == (isTaken ? .checksum : nil))
    }
  }

  @Test("A stopped run reads no part for its checksum, and sends none")
  func stopped() async throws {
    let rig = try rig(Self.same)
    rig.sender.progress.stop()
    #expect(await rig.outcome(.md5) == .failure(.interrupted))
    #expect(rig.store.requests.isEmpty)
  }
}
