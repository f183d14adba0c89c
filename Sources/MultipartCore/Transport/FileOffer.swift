internal import CCurl
import Glibc

/// A body that is sent from its file without being copied into libcurl's buffer (`sendfile`); only if libcurl's calls of
/// `send` are replaced (`Sources/CCurl/send.c`). Owns an `s3up_offer`. Loop only: `send` finds it on the thread that
/// made it.
final class FileOffer {
  static let isPossible = s3up_can_offer() != 0

  private let place: FilePlace
  private let offer: UnsafeMutablePointer<s3up_offer>

  init?(_ place: FilePlace) {
    guard Self.isPossible else { return nil }
    self.place = place
    offer = .allocate(capacity: 1)
    offer.initialize(to: s3up_offer())
    begin(at: 0)
  }

  deinit {
    s3up_offer_withdraw(offer)
    offer.deallocate()
  }

  /// The body is sent from this position, whatever was sent before.
  func begin(at position: Int64) {
    s3up_offer_withdraw(offer)
    offer.pointee = s3up_offer()
    offer.pointee.file = place.file.descriptor
    offer.pointee.socket = -1
    offer.pointee.offset = place.file.start + place.offset + position
  }

  /// The next bytes of the file are sent instead of these. False if libcurl uses its buffer in an unknown way.
  func stands(for buffer: UnsafeMutableRawBufferPointer) -> Bool {
    s3up_offer_next(offer, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), buffer.count) != 0
  }

  /// libcurl was given more bytes than have been sent.
  var isPending: Bool { offer.pointee.sent < offer.pointee.length }

  /// Called like libcurl does, for tests.
  static func send(_ bytes: UnsafeRawBufferPointer, to socket: Int32) -> Int {
    s3up_curl_send(socket, bytes.baseAddress, bytes.count)
  }

  /// Called like libcurl does, for tests.
  static func close(_ socket: Int32) -> Int32 { s3up_curl_close(socket) }

  /// Why the file could not be read.
  var problem: Failure? {
    switch offer.pointee.problem {
    case 0: nil
    case S3UP_OFFER_FILE_ENDED: place.file.shrunk
    default: place.file.unreadable(offer.pointee.problem)
    }
  }
}
