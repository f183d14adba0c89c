import MultipartBasics

/// The slices of a run, as many as a picture can show: when there are more, neighbours on a track become one.
struct TracePicture: Sendable {
  struct Piece: Sendable {
    var kind: TraceSlice.Kind
    var name: String
    var from: Duration
    var to: Duration
    /// How many slices it stands for.
    var count = 1
    /// Why the first of them has failed or waited.
    var why: String?
    var bytes: Int64 = 0
  }

  static let most = 4000
  /// Beyond this, tracks are not drawn.
  private static let mostTracks = 400

  private(set) var tracks: [TraceTrack: [Piece]] = [:]
  private(set) var leftOut = 0
  /// Neighbours that are closer have become one; zero while each slice is its own piece.
  private(set) var grain = Duration.zero
  private var count = 0
  private var end = Duration.zero

  init() {}

  mutating func take(_ slice: TraceSlice) {
    guard tracks[slice.track] != nil || tracks.count < Self.mostTracks else {
      leftOut += 1
      return
    }
    var piece = Piece(kind: slice.kind, name: slice.name, from: slice.from, to: slice.to)
    for (name, value) in slice.facts {
      switch (name, value) {
      case ("bytes", .number(let digits)): piece.bytes = Int64(digits) ?? 0
      case ("error", .string(let why)), ("cause", .string(let why)): piece.why = why
      case ("status", .number(let digits)) where slice.kind == .failed: piece.why = piece.why ?? "status \(digits)"
      default: break
      }
    }
    tracks[slice.track, default: []].append(piece)
    end = max(end, slice.to)
    count += 1
    if count > Self.most { thin() }
  }

  /// To half as many at most, so that the next time is far.
  private mutating func thin() {
    grain = max(grain, end / 2000)
    while true {
      for track in tracks.keys { tracks[track] = Self.joined(tracks[track] ?? [], grain) }
      count = tracks.values.reduce(0) { $0 + $1.count }
      guard count > Self.most / 2, grain < end else { return }
      grain = max(grain * 2, .microseconds(1)).bounded
    }
  }

  private static func joined(_ pieces: [Piece], _ grain: Duration) -> [Piece] {
    var joined: [Piece] = []
    for piece in pieces.sorted(by: { $0.from < $1.from }) {
      guard var last = joined.last, piece.from - last.to <= grain,
        last.kind == piece.kind || (last.to - last.from <= grain && piece.to - piece.from <= grain)
      else {
        joined.append(piece)
        continue
      }
      // A failure stays to be seen.
      if piece.kind == .failed, last.kind != .failed { (last.kind, last.name) = (.failed, piece.name) }
      last.why = last.why ?? piece.why
      last.to = max(last.to, piece.to)
      last.count += piece.count
      last.bytes = last.bytes.plus(piece.bytes)
      joined[joined.count - 1] = last
    }
    return joined
  }
}
