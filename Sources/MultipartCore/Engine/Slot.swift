/// A transfer of the run: a part of an object, or, as part 0, the object in a single request.
struct Slot: Hashable, Comparable, Sendable {
  var object: Int
  var part: Int

  var isWholeObject: Bool { part == 0 }

  static func < (a: Slot, b: Slot) -> Bool { (a.object, a.part) < (b.object, b.part) }
}
