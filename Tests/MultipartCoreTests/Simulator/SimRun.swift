@testable import MultipartCore

/// The settings of one run.
struct SimCommand {
  var mode = ResumeMode.auto
  var abortsOnInterrupt = false
  var ifNoneMatch = false
  var formIsFree = true
  var form = ChecksumForm.algorithm(.crc64nvme)
  var concurrency = 4
  /// Whether the number of connections is found by trying, up to `concurrency`.
  var adapts = false
  var buffers = Buffers.none
  /// Bytes per second of a constant line; nil: it changes from one sample to the next.
  var lineRate: Int?
  var tries = 10
  var verifies = false
  /// Whether the object has requested settings that must be checked at the end.
  var asks = false
  var signs = false
  /// The probability that a request fails.
  var faults = 0.0
  /// The event before which the process is killed, or told to stop.
  var killAt: Int?
  var stopAt: Int?
  var stop = Failure.Code.interrupted
}

/// One process that runs the machine: its pending requests, what its store told it, and the invariants at each step.
final class SimRun {
  struct Out {
    var action: UploadMachine.Action
    var isCancelled = false
  }

  let name: String
  let host: SimHost
  let file: SimFile
  let command: SimCommand
  var machine: SoloUpload
  let plan: UploadPlan
  /// The record as it was when the run began, if it keeps one.
  let found: SimRecord?
  let keepsRecord: Bool
  let keepsOn: Set<Failure.Code>
  var out: [Out] = []
  var timers: [Int] = []
  var events = 0
  /// The bytes that the line reports as delivered.
  var delivered: Int64 = 0
  var segments: Int64 = 0
  var lostSegments: Int64 = 0
  var limit: Int?
  var outcome: UploadMachine.Outcome?
  var isOver = false
  var stops = 0
  /// Whether this run, or a request that it had sent, made the object this file.
  var hasPublished = false
  /// Whether the object was this file when its HEAD was answered; another host may have written its own since.
  var wasThere = false
  var headWasAsked = false
  /// The earliest time at which this run can have created the object.
  var since = Int.max
  /// Whether the object was seen to have the requested settings.
  var wasInspected = false
  /// Whether an answer has shown that the object is the file.
  var sawProof = false

  // What the run knows about uploads.
  var created: [String] = []
  var adopted: [String] = []
  var touched: [String] = []
  var aborted: [String] = []
  var lied: [String] = []
  /// Uploads created by requests whose answers this run lost.
  var lost: [String] = []
  /// The upload of the last list of parts, and the bytes that it showed.
  var listedID = ""
  var listed: [Int] = []
  var listedIsOurs = false

  // Parts, per upload.
  var epochs = 0
  var confirmed: [Bool] = []
  var shown: [Bool] = []
  var flying: [Bool] = []
  var sendsOut = 0
  var sends = 0
  var partRetries = 0
  var takenBack = 0
  var pieces = 0
  var freed: Set<Int> = []
  /// Whether the source was told to stop.
  var isStopped = false
  var streamHasEnded = false

  init(name: String, host: SimHost, command: SimCommand, seed: UInt64) throws(Failure) {
    self.name = name
    self.host = host
    self.command = command
    file = host.file
    plan = try UploadPlan(size: file.isStream ? 0 : file.size, partSize: file.partSize)
    keepsRecord = file.isStream || !plan.isSingle
    found = keepsRecord ? host.record : nil
    var settings = SoloSettings(
      plan: plan, concurrency: command.concurrency, retry: RetryPolicy(tries: command.tries), form: command.form,
      formIsFree: command.formIsFree, payloadIsSigned: command.signs, checksFirst: command.ifNoneMatch,
      alwaysVerifies: command.verifies, seed: seed)
    settings.buffers = command.buffers
    if command.adapts { settings.pace = Pace.Bounds(start: (command.concurrency + 1) / 2, most: command.concurrency) }
    settings.finds = true
    settings.inspects = command.asks
    settings.isStream = file.isStream
    settings.requiresResume = command.mode == .require
    keepsOn = file.isStream ? [] : Self.passing.subtracting(command.abortsOnInterrupt ? [.interrupted] : [])
    settings.keepsOn = keepsOn
    machine = SoloUpload(settings)
    confirmed = Array(repeating: false, count: file.parts)
    shown = confirmed
    flying = confirmed
  }

  /// The same codes as in the uploader.
  private static let passing: Set<Failure.Code> = [
    .network, .tls, .stalled, .throttled, .server, .credentials, .credentialsExpired, .clockSkew, .configuration,
    .local, .deadline, .interrupted,
  ]

  var sourceChanged: Bool { host.file != file }

  /// Begins another upload, of which nothing is confirmed.
  func beginEpoch() {
    epochs += 1
    for index in confirmed.indices {
      confirmed[index] = false
      shown[index] = false
    }
  }

  func mayChange(_ id: String) -> Bool {
    created.contains(id) || adopted.contains(id) || lost.contains(id) || found?.uploadID == id
  }

  /// More events than any run can need: each part and each step is tried this often in each upload.
  var eventBound: Int {
    let tries = command.tries + 2
    return 400 + 8 * tries + (file.parts * tries + 4 * tries) * (4 + epochs)
  }

  // MARK: The record

  func beginRecord(_ id: String) -> Bool {
    guard keepsRecord, host.diskWorks else { return false }
    host.record = SimRecord(uploadID: id, version: file.version, form: machine.form, begun: since)
    return true
  }

  func adopt(_ id: String) -> Bool {
    guard keepsRecord, host.diskWorks else { return false }
    if let found, found.uploadID == id { return true }
    guard beginRecord(id) else { return false }
    for receipt in machine.receipts {
      if let receipt { host.record?.append(receipt.number, SimRun.content(receipt)) }
    }
    return true
  }

  func append(_ receipt: PartReceipt) {
    guard keepsRecord, host.diskWorks, host.record?.uploadID == machine.uploadID else { return }
    host.record?.append(receipt.number, Self.content(receipt))
  }

  /// The content of a part, which the simulator carries in the ETag.
  static func content(_ receipt: PartReceipt) -> Int { Int(receipt.etag) ?? 0 }
}
