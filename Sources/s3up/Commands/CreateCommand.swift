import MultipartCore

/// `s3up create s3://BUCKET/KEY`: prints the upload id, alone on a line.
struct CreateCommand {
  private let session: Session

  init(_ session: Session) {
    self.session = session
  }

  func run() async throws(Failure) {
    let invocation = session.invocation
    let url = try S3URL.object(try invocation.arguments("s3://BUCKET/KEY")[0])
    let object = try ObjectOptions(invocation)
    let access = try await StoreAccess.open(session, bucket: url.bucket)
    if access.bucket.kind == .directory { try DirectoryBucket.check(invocation) }
    var operation = CreateMultipartUpload(bucket: url.bucket, key: url.key ?? "")
    let guessed = ContentType.guess(name: url.key ?? "", leading: [])
    operation.object = try object.headers(contentType: guessed)
    operation.encryption = object.encryption.server
    operation.customerKey = try object.encryption.customerKey(
      for: access.bucket.origin, insecure: ConnectionOptions(invocation).insecure)
    operation.common = access.common
    // Without --checksum none is named: S3 would then refuse parts that are sent without it, by a plain PUT to a URL.
    if case .algorithm(let algorithm)? = try IntegrityOptions(invocation).checksum.form {
      operation.checksumAlgorithm = algorithm.awsName
      operation.checksumType = algorithm == .crc64nvme ? "FULL_OBJECT" : "COMPOSITE"
    }
    let made = try await perform(operation, url, access)
    do throws(Failure) {
      try confirm(made, operation)
      try session.answer(
        made.uploadID,
        json: JSONValue.object([
          ("bucket", .string(url.bucket)), ("key", .string(url.key ?? "")), ("upload_id", .string(made.uploadID)),
          ("request_id", .optional(made.requestID)),
        ]).text)
    } catch {
      throw await takenBack(error, made.uploadID, url, access)
    }
  }

  /// A try whose answer was lost may have made an upload all the same. Which one it is cannot be known, where another
  /// script may have begun one at the same moment: it is said, and not ended.
  private func perform(
    _ operation: CreateMultipartUpload, _ url: S3URL, _ access: StoreAccess
  ) async throws(Failure) -> CreateMultipartUpload.Output {
    let mayBeLost = Locked(false)
    func say() {
      guard mayBeLost.withLock({ $0 }) else { return }
      let name = ShellWord.quoted("s3://\(url.bucket)/\(url.key ?? "")")
      session.console.line(
        "s3up: an answer was lost: another upload may have been begun, which s3up uploads \(SafeText.oneLine(name)) shows"
      )
    }
    do throws(Failure) {
      let made = try await access.retry.run(CreateMultipartUpload.name, in: session.world) {
        (_) async throws(Failure) in
        do throws(Failure) {
          return try await access.client.perform(operation)
        } catch {
          // Where nobody answers, or what answers is no store, nothing was begun.
          let reached = !error.isSettled && error.triedInVain == nil
          if reached, UploadMachine.mayHaveMade(error.code) { mayBeLost.withLock { $0 = true } }
          throw error
        }
      }
      say()
      return made
    } catch {
      say()
      throw error
    }
  }

  /// Who sends the parts does not know what was asked for, so this answer has to say it. With a key of one's own (SSE-C)
  /// each part says it too.
  private func confirm(
    _ made: CreateMultipartUpload.Output, _ operation: CreateMultipartUpload
  ) throws(Failure) {
    let asked = try RequestedSettings(object: operation.object, encryption: operation.encryption)
    guard let lost = asked.findings(inWrite: made.encryption).first(where: \.isDropped) else { return }
    throw Failure(
      .refused, "the store does not encrypt as asked for: it answers with \(lost.sentence)", requestID: made.requestID,
      remedy: "leave \(lost.setting.option) out, or use s3up put, which sees it with the parts: nothing was begun")
  }

  /// An upload whose id nobody has read would stay for ever.
  private func takenBack(_ failure: Failure, _ id: String, _ url: S3URL, _ access: StoreAccess) async -> Failure {
    var failure = failure
    let abort = AbortStep(
      client: access.client, common: access.common, retry: access.retry, world: session.world)
    do throws(Failure) {
      _ = try await abort.run(bucket: url.bucket, key: url.key ?? "", uploadID: id)
      failure.message += "; the upload that was begun is aborted"
    } catch {
      let action = RemedyAction.abort(bucket: url.bucket, key: url.key ?? "", uploadID: id)
      failure.remedy = "end the upload that was begun: \(run: action)"
    }
    return failure
  }
}
