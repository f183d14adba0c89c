import Foundation
import MultipartBasics
@testable import MultipartCore

/// One request and its answer, with the fault that is applied to it.
struct FakeExchange {
  let server: FakeServer
  let stream: FakeStream
  let buffer: UnsafeMutableRawBufferPointer
  let head: HTTPHead
  let route: FakeRoute
  let fault: Fault.Action?
  let index: Int

  private(set) var received = 0
  private(set) var status: Int?
  private(set) var errorCode: String?

  init(
    server: FakeServer, stream: FakeStream, buffer: UnsafeMutableRawBufferPointer, head: HTTPHead, route: FakeRoute,
    fault: Fault.Action?, index: Int
  ) {
    self.server = server
    self.stream = stream
    self.buffer = buffer
    self.head = head
    self.route = route
    self.fault = fault
    self.index = index
  }

  /// Thrown inside if the connection was cut on purpose.
  private enum Cut: Error { case cut(StreamEnd?) }

  /// Runs the exchange; false if the connection is to end.
  mutating func run() throws(StreamEnd) -> Bool {
    do throws(Cut) {
      return try steps()
    } catch {
      if case .cut(let end?) = error { throw end }
      return false
    }
  }

  private mutating func steps() throws(Cut) -> Bool {
    if case .resetBeforeReading = fault { throw reset() }
    try stall(.beforeBody)
    let admitted: Admitted
    do throws(FakeS3Error) {
      admitted = try server.admit(head, route)
    } catch {
      return try refuseEarly(server.answer(error, headOnly: head.method == "HEAD"))
    }
    if case .error(let status, let code, let message, let headers, true) = fault {
      return try refuseEarly(planned(status, code, message, headers))
    }
    if head.expectsContinue {
      try io { () throws(StreamEnd) in try stream.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
    }
    guard let body = try readBody(admitted.plan) else { return false }
    if case .replaceObject = fault { server.replaceObject(route) }
    var answer: HTTPAnswer
    switch fault {
    case .error(let status, let code, let message, let headers, _): answer = planned(status, code, message, headers)
    case .errorIn200(let code, let message):
      answer = server.answer(
        FakeS3Error(code: code, status: 200, message: message ?? "We encountered an internal error."), headOnly: false)
    default:
      do throws(FakeS3Error) {
        answer = try server.perform(head, route, admitted, body)
      } catch {
        answer = server.answer(error, headOnly: head.method == "HEAD")
      }
    }
    return try finish(answer)
  }

  private func planned(_ status: Int, _ code: String, _ message: String?, _ headers: [String: String]?) -> HTTPAnswer {
    var error = FakeS3Error(code: code, status: status, message: message ?? "The fault script says so.")
    for (name, value) in headers ?? [:] { error.headers.add(name, value) }
    return server.answer(error, headOnly: head.method == "HEAD")
  }

  // MARK: the body

  private mutating func readBody(_ plan: IntakePlan) throws(Cut) -> ReceivedBody? {
    let length = head.contentLength ?? 0
    let intake = BodyIntake(plan, expected: length)
    defer { received = intake.length }
    let started = ContinuousClock.now
    while intake.length < length {
      var most = min(buffer.count, length - intake.length)
      if case .resetAfterBody(let bytes) = fault {
        guard intake.length < bytes else { throw reset() }
        most = min(most, bytes - intake.length)
      }
      if case .stall(_, .withinBody) = fault {
        if intake.length >= length / 2 { try stall(.withinBody) } else { most = min(most, length / 2 - intake.length) }
      }
      if case .slowRead(let rate) = fault { most = min(most, max(1, rate / 20)) }
      let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<max(1, most)])
      let count = try io { () throws(StreamEnd) in try stream.read(piece) }
      guard count > 0 else { return nil }
      if case .corruptBody = fault, intake.length == 0 { piece[0] ^= 1 }
      intake.add(UnsafeRawBufferPointer(rebasing: piece[..<count]))
      try keepSlow(intake.length, since: started)
    }
    if case .resetAfterBody = fault { throw reset() }
    return intake.finish()
  }

  /// Waits until this many bytes are due.
  private func keepSlow(_ length: Int, since started: ContinuousClock.Instant) throws(Cut) {
    guard case .slowRead(let rate) = fault else { return }
    let ahead = .seconds(Double(length) / Double(max(1, rate))) - (ContinuousClock.now - started)
    guard ahead > .zero else { return }
    try io { () throws(StreamEnd) in try stream.pause(milliseconds: Int((ahead / .milliseconds(1)).rounded(.up))) }
  }

  /// Refuses a wrong head without waiting for the body, like S3. A small body is read anyway, so that the connection
  /// stays open; otherwise the connection is closed after the answer.
  private mutating func refuseEarly(_ answer: HTTPAnswer) throws(Cut) -> Bool {
    var answer = answer
    if let length = head.contentLength, length <= 1 << 20, !head.expectsContinue {
      guard try readBody(IntakePlan()) != nil else { return false }
    } else if head.headers["transfer-encoding"] != nil || (head.contentLength ?? 0) > 0 {
      answer.close = true
    }
    return try send(answer)
  }

  // MARK: the answer

  private mutating func finish(_ planned: HTTPAnswer) throws(Cut) -> Bool {
    var answer = planned
    switch fault {
    case .loseAnswer: throw reset()
    case .halfClose:
      stream.shutdownWriting()
      stream.drain(limit: 1 << 20)
      return false
    case .garbage(let text):
      try io { () throws(StreamEnd) in
        try stream.write(Array((text ?? "\u{1}\u{2}SMTP 220 this is not HTTP\r\n\r\n").utf8))
      }
      stream.shutdownWriting()
      return false
    case .delay(let milliseconds): try io { () throws(StreamEnd) in try stream.pause(milliseconds: milliseconds) }
    case .stall, .hold: try stall(.beforeAnswer)
    case .etag(let etag): answer.replaceETag(etag)
    case .checksum(let value): answer.replaceChecksum(value)
    case .headers(let headers): for (name, value) in headers { answer.headers.set(name, value) }
    case .uploadID(let id): answer.bodyText.replace(between: "<UploadId>", "</UploadId>", with: id)
    case .document(let status, let text, let type):
      answer = HTTPAnswer(status, headers: ["Content-Type": type], body: Data(text.utf8))
    case .shortenAnswer(let bytes): answer.body = Data(answer.body.prefix(bytes))
    case .hugeHeader(let bytes): answer.headers.add("x-amz-huge", String(repeating: "h", count: bytes))
    case .hugeBody(let bytes): answer.body.append(Data(repeating: 0x20, count: bytes))
    default: break
    }
    return try send(answer)
  }

  private mutating func send(_ planned: HTTPAnswer) throws(Cut) -> Bool {
    var answer = planned
    if head.wantsClose { answer.close = true }
    if head.method == "HEAD" { answer.headOnly = true }
    // The body of such an answer would be taken for the beginning of the next one.
    if !answer.mayHaveBody { answer.body = Data() }
    if fault != nil { answer.repeat(signature: head.signature) }
    status = answer.status
    errorCode = answer.errorCode
    server.answering(index, self)
    if case .trickle(let spaces, let milliseconds, let declarationFirst) = fault, !answer.headOnly, answer.mayHaveBody {
      try trickle(answer, spaces, milliseconds, declarationFirst ?? false)
      return !answer.close
    }
    try io { () throws(StreamEnd) in try stream.write(answer.head(extra: server.commonHeaders(answer))) }
    if !answer.headOnly {
      switch fault {
      case .truncateAnswer(let bytes):
        try io { () throws(StreamEnd) in try stream.write(answer.body.prefix(bytes)) }
        answer.close = true
      case .corruptAnswer:
        var body = Data(answer.body)
        if !body.isEmpty { body[body.count / 2] ^= 1 }
        try io { () throws(StreamEnd) in try stream.write(body) }
      case .stall(_, .withinAnswer):
        let half = answer.body.count / 2
        try io { () throws(StreamEnd) in try stream.write(answer.body.prefix(half)) }
        try stall(.withinAnswer)
        try io { () throws(StreamEnd) in try stream.write(answer.body.dropFirst(half)) }
      case .overrunAnswer(let bytes):
        try io { () throws(StreamEnd) in try stream.write(answer.body + Data(repeating: 0x20, count: bytes)) }
      default: try io { () throws(StreamEnd) in try stream.write(answer.body) }
      }
    }
    if case .closeAfterAnswer = fault { return false }
    if answer.close {
      stream.shutdownWriting()
      stream.drain(limit: 64 << 20)
    }
    return !answer.close
  }

  /// Sends white space first, as S3 does to keep the line alive while it assembles a large object.
  private func trickle(_ answer: HTTPAnswer, _ spaces: Int, _ milliseconds: Int, _ declarationFirst: Bool) throws(Cut) {
    func chunk(_ bytes: some Sequence<UInt8>) -> [UInt8] {
      let bytes = Array(bytes)
      return Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + [13, 10]
    }
    var document = Data(answer.body)
    var headers = server.commonHeaders(answer)
    headers.remove("Content-Length")
    headers.add("Transfer-Encoding", "chunked")
    try io { () throws(StreamEnd) in
      try stream.write(answer.head(extra: headers))
      if declarationFirst, let end = document.firstIndex(of: UInt8(ascii: ">")) {
        try stream.write(chunk(document[...end]))
        document = Data(document[(end + 1)...])
      }
      for _ in 0..<spaces {
        try stream.write(chunk([0x20]))
        try stream.pause(milliseconds: milliseconds)
      }
      if !document.isEmpty { try stream.write(chunk(document)) }
      try stream.write(chunk([]))
    }
  }

  // MARK: cuts

  private func stall(_ stage: Fault.Stage) throws(Cut) {
    if case .hold(let file, stage) = fault {
      while access(file, F_OK) == 0 { try io { () throws(StreamEnd) in try stream.pause(milliseconds: 10) } }
    }
    guard case .stall(let milliseconds, let at) = fault, at ?? .beforeAnswer == stage else { return }
    try io { () throws(StreamEnd) in try stream.pause(milliseconds: milliseconds) }
  }

  private func reset() -> Cut {
    stream.reset()
    return .cut(nil)
  }

  private func io<T>(_ body: () throws(StreamEnd) -> T) throws(Cut) -> T {
    do throws(StreamEnd) { return try body() } catch { throw .cut(error) }
  }
}

extension HTTPAnswer {
  private var isDocument: Bool { body.starts(with: Data("<?xml".utf8)) }

  /// Replaces the ETag in the header and in the XML, and the ETags of a list.
  mutating func replaceETag(_ etag: String?) {
    if headers["ETag"] != nil {
      headers.remove("ETag")
      headers.add("ETag", etag)
    }
    guard isDocument else { return }
    bodyText.replace(between: "<ETag>", "</ETag>", with: etag)
  }

  mutating func replaceChecksum(_ value: String?) {
    for algorithm in FakeChecksum.allCases {
      if headers[algorithm.header] != nil {
        headers.remove(algorithm.header)
        headers.add(algorithm.header, value)
      }
      guard isDocument else { continue }
      bodyText.replace(between: "<\(algorithm.element)>", "</\(algorithm.element)>", with: value)
    }
  }
}

extension String {
  /// Replaces the text between two marks; nil removes the element.
  fileprivate mutating func replace(between open: String, _ close: String, with value: String?) {
    var out = ""
    var rest = self[...]
    while let start = rest.range(of: open), let end = rest.range(of: close, range: start.upperBound..<rest.endIndex) {
      out += rest[..<start.lowerBound]
      if let value { out += open + XMLNode.escape(value) + close }
      rest = rest[end.upperBound...]
    }
    self = out + rest
  }
}
