/// A line of what a run is going to do, and why.
///
///     for line in try await store.explain(upload) { print("\(line.topic): \(line.text)") }
public struct PlanLine: Sendable, Equatable {
  /// What the line is about: `parts`, `connections`, `region`.
  public var topic: String
  /// What is going to happen, and which setting, file or fact says so.
  public var text: Wording

  init(_ topic: String, _ text: Wording) {
    self.topic = topic
    self.text = text
  }

  @_disfavoredOverload
  init(_ topic: String, _ text: String) { self.init(topic, Wording(text)) }
}
