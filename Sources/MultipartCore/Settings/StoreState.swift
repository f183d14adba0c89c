/// What is stored about a store between runs: records of unfinished uploads, and what was learned about it.
struct StoreState: Sendable {
  let book: RecordBook
  let memory: StoreMemory
}

extension Store {
  /// The state; nil if nothing is stored.
  var state: StoreState? {
    options.stateFolder(world.environment).map {
      StoreState(book: RecordBook(folder: $0), memory: StoreMemory(folder: $0))
    }
  }

  /// What earlier runs have learned about this store.
  func lessons() -> StoreLessons? {
    let lessons = state?.memory.lessons(of: signer.origin, now: world.now())
    if let refusal = lessons?.refusal {
      world.log(
        0,
        "what was learned about stores is not used: \(refusal.place.file ?? ""): \(refusal.message); "
          + (refusal.remedy ?? ""))
    }
    return lessons
  }
}
