@testable import MultipartCore

/// Another client at the same key, with its own upload.
struct SimStranger {
  /// Whether it keeps sending a part again in less than a minute, forever.
  var isAtIt: Bool
  /// The contents of its upload when it last sent something.
  var contents: [Int]
}

/// Uploads of other clients: with the file's own parts or others, abandoned or still being sent to.
extension SimPlay {
  func bringStrangers(_ file: SimFile) {
    for _ in 0...dice.below(3) {
      let upload = store.create(dice.chance(0.7) ? .algorithm(.crc64nvme) : .nothing, at: now)
      for number in 1...file.parts where dice.chance(0.5) {
        let isOther = dice.chance(0.1)
        upload.put(number, isOther ? SimFile.garbage : file.content(number), file.size(number), at: now)
      }
      upload.stranger = SimStranger(isAtIt: dice.chance(0.4), contents: upload.contents)
      upload.excuse = "somebody else's"
      saw("uploads of strangers")
    }
    // Some are already old when a run begins.
    now += dice.below(120_000)
    strangersGoOn()
  }

  /// An active client sends something every half a minute, however much time has passed.
  func strangersGoOn() {
    for upload in store.uploads where upload.stranger?.isAtIt == true && now - upload.lastSent > 30_000 {
      upload.lastSent = now - dice.below(30_000)
    }
  }

  /// Checks that a stranger's upload is as the stranger left it.
  func checkStrangers() {
    for upload in store.uploads {
      guard let stranger = upload.stranger else { continue }
      if upload.contents != stranger.contents { mistake("\(upload.id), a stranger's upload, was changed") }
    }
  }
}
