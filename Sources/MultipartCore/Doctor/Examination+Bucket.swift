import MultipartBasics

/// Checks whether the bucket accepts uploads, what deletes unfinished ones, and what this machine stores about them.
extension Examination {
  private var name: String { "s3://\(bucket ?? "")" }
  private var target: String { name + (prefix.isEmpty ? "" : "/\(prefix)") }

  var probeFindings: [StoreFinding] {
    guard bucket != nil else { return [] }
    guard let probe else {
      // AWS reveals to everyone that a bucket does not exist.
      if place?.isAWS == true, case .success(let answer)? = visit?.outcome, answer.status == 404 {
        return [noBucket(nil)]
      }
      return []
    }
    switch probe.began {
    case .failure(let failure): return begin(failure, probe)
    case .success(let upload): return began(upload, probe)
    }
  }

  private func begin(_ failure: Failure, _ probe: ProbeReport) -> [StoreFinding] {
    var findings: [StoreFinding] = []
    if failure.s3Code == "NoSuchBucket" || (failure.s3Code == nil && failure.status == 404) {
      findings.append(noBucket(failure))
    } else if Self.isAboutCredentials(failure) || Self.isAboutRegion(failure) || failure.code == .clockSkew {
      // Reported with the credentials.
    } else if failure.code == .credentials {
      findings.append(
        .fail(.upload, failure, "none can be begun below \(target): ", remedy: allow(CreateMultipartUpload.name)))
    } else {
      findings.append(.fail(.upload, failure, "none can be begun below \(target): "))
    }
    if let lost = probe.leftBehind {
      findings.append(
        .fail(
          .abort, lost, "an upload may have been begun for \(probe.key), and could not be looked for: ",
          remedy: "look for it later: \(run: .listUploads(bucket: bucket ?? "", key: probe.key))"))
    }
    return findings
  }

  private func noBucket(_ failure: Failure?) -> StoreFinding {
    var make = "aws s3 mb \(name)"
    if let place { make += place.isAWS ? " --region \(place.region)" : " --endpoint-url \(place.origin)" }
    let remedy: Wording = "check the bucket's name, the endpoint and the account; or create it: \(make)"
    let text: Wording = "\(name) does not exist"
    guard let failure else { return StoreFinding(.fail, .bucket, text, remedy: remedy, code: .refused) }
    guard failure.s3Code != nil else {
      return .fail(
        .bucket, failure, text + ", or the server that answers is not S3: ", code: .refused,
        remedy: "check the address of the store (\(.endpoint)), any proxy on the way, and the bucket's name")
    }
    return .fail(.bucket, failure, text + ": ", code: .refused, remedy: remedy)
  }

  private func began(_ upload: CreateMultipartUpload.Output, _ probe: ProbeReport) -> [StoreFinding] {
    var findings = [StoreFinding(.ok, .bucket, "\(name) exists")]
    switch probe.part {
    case .failure(let failure)?:
      let isDenied = failure.code == .credentials
      findings.append(
        .fail(
          .upload, failure, "one can be begun below \(target), but takes no part: ",
          remedy: isDenied ? allow(UploadPart.name) : nil))
    case .success(let part)?: findings.append(taken(part, probe))
    case nil: break
    }
    switch probe.list {
    case .failure(let failure)?:
      findings.append(
        StoreFinding(
          .warn, .list, "the parts cannot be listed: " + StoreFinding.told(failure),
          remedy: failure.code == .credentials
            ? allow(ListParts.name) + ": without it no upload can be resumed"
            : failure.remedy ?? "without it no upload can be resumed",
          facts: StoreFinding.facts(failure)))
    case .success(false)?:
      findings.append(
        StoreFinding(
          .warn, .list, "the part that was sent is not in the store's list",
          remedy: "try again: uploads to a store that forgets parts cannot be resumed"))
    default: break
    }
    switch probe.ended {
    case .failure(let failure)?:
      let end: Wording = "\(run: .abort(bucket: bucket ?? "", key: probe.key, uploadID: upload.uploadID))"
      findings.append(
        .fail(
          .abort, failure, "the probe upload could not be aborted, and is left at the store: ",
          remedy: failure.code == .credentials ? allow(AbortMultipartUpload.name) + ", then run: \(end)" : end)
      )
    default: break
    }
    return findings
  }

  private func taken(_ part: UploadPart.Output, _ probe: ProbeReport) -> StoreFinding {
    let verified = probe.form.algorithm.flatMap { part.checksums[$0.headerName] == nil ? nil : probe.form.title }
    var steps = ["begun", "a part sent"]
    if let verified { steps[1] += " (\(verified) verified by the store)" }
    if case .success(true)? = probe.list { steps.append("listed") }
    var rest = ""
    if case .success? = probe.ended {
      steps.append("ended")
      if case .success? = probe.list, case .success(let outcome)? = probe.ended, outcome != .unlisted {
        rest = "; nothing is left"
      }
    }
    let last = steps.removeLast()
    let text = "one below \(target) was \(steps.joined(separator: ", ")) and \(last)\(rest)"
    return StoreFinding(
      .ok, .upload, text,
      facts: ["key": .string(probe.key), "checksum": verified.map { .string($0) } ?? .null])
  }

  private func allow(_ operation: OperationName) -> Wording { "allow \(operation.needs) on \(resource)" }

  /// The objects' ARN in a policy.
  private var resource: String {
    guard let bucket, !bucket.begins(with: "arn:") else { return (bucket ?? "") + "/object/\(prefix)*" }
    let partition = place.map { Partition.of(region: $0.region).name } ?? "aws"
    return "arn:\(place?.isAWS == true ? partition : "aws"):s3:::\(bucket)/\(prefix)*"
  }

  // MARK: - Unfinished uploads

  var lifecycleFindings: [StoreFinding] {
    guard let probe, case .success(let upload) = probe.began, place?.kind != .directory else { return [] }
    if let date = upload.abortDate {
      let days = max(0, (date.seconds - now.seconds + 43_200) / 86_400)
      let rule = upload.abortRuleID.map { " \(SafeText.oneLine($0))" } ?? ""
      return [
        StoreFinding(
          .ok, .lifecycle, "the rule\(rule) aborts unfinished uploads after \(days) \(days == 1 ? "day" : "days")",
          facts: ["abort_date": .string(date.iso8601)])
      ]
    }
    switch lifecycle {
    case .success(let rules)?:
      if let rule = rules.filter({ $0.holds(for: probe.key) }).min(by: { $0.days < $1.days }) {
        let name = rule.id.map { " \(SafeText.oneLine($0))" } ?? ""
        return [
          StoreFinding(
            .ok, .lifecycle,
            "the rule\(name) aborts unfinished uploads after \(rule.days) \(rule.days == 1 ? "day" : "days")",
            facts: ["days": .int(Int64(rule.days))])
        ]
      }
      return [
        StoreFinding(.warn, .lifecycle, "no rule aborts unfinished uploads, whose parts cost money", remedy: ruleToMake)
      ]
    // On AWS the answer to create names a rule that applies; this one named none.
    case .failure(let failure)? where place?.isAWS == true && failure.status != nil:
      return [
        StoreFinding(.warn, .lifecycle, "no rule aborts unfinished uploads, whose parts cost money", remedy: ruleToMake)
      ]
    case .failure(let failure)?:
      let isDenied = failure.code == .credentials
      return [
        StoreFinding(
          .warn, .lifecycle, "it is not known whether a rule aborts unfinished uploads: " + StoreFinding.told(failure),
          remedy: isDenied
            ? "allow \(GetBucketLifecycle.name.needs), or clean up: \(run: cleanUp)"
            : "clean up: \(run: cleanUp)",
          facts: StoreFinding.facts(failure))
      ]
    case nil: return []
    }
  }

  private var cleanUp: RemedyAction { .cleanUp(bucket: bucket ?? "", olderThanDays: 7) }

  private var ruleToMake: Wording {
    "add a rule with AbortIncompleteMultipartUpload (DaysAfterInitiation 7) to the bucket, or run: \(run: cleanUp)"
  }

  // MARK: - This machine

  var stateFindings: [StoreFinding] {
    guard let state else { return [] }
    guard let path = state.path else {
      return [
        StoreFinding(
          .warn, .state, "no folder for records: an interrupted upload can only be adopted from the store's list",
          remedy: "give \(.stateFolder) DIR, or set HOME")
      ]
    }
    let facts: [String: StoreFinding.Fact] = ["path": .string(path), "records": .int(Int64(state.records))]
    var text: Wording =
      "\(path), \(state.records == 0 ? "no unfinished upload" : "\(state.records) unfinished") recorded"
    switch state.use {
    case .unusable(let failure):
      return [
        StoreFinding(
          .warn, .state, "\(path): \(failure.message)",
          remedy:
            "give another folder with \(.stateFolder) DIR, or make this one writable: uploads work, but are not recorded",
          facts: facts)
      ]
    case .canBeMade:
      return [StoreFinding(.ok, .state, "\(path), does not exist yet: the first upload creates it", facts: facts)]
    case .writable: break
    }
    if state.unusable > 0 {
      text += ", \(state.unusable) that cannot be read"
      return [StoreFinding(.warn, .state, text, remedy: "see which: \(run: .listRecordedUploads)", facts: facts)]
    }
    if state.records > 0 { text += " (see \(run: .listRecordedUploads))" }
    return [StoreFinding(.ok, .state, text, facts: facts)]
  }
}
