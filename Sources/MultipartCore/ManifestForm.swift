import MultipartBasics

/// The form of a manifest's lines.
public enum ManifestForm: Sendable {
  /// Lines as `sha256sum` writes and checks them.
  case sums
  /// One JSON object per line.
  case json

  /// The form for a target, chosen by the extension of its name.
  public init(target: String) {
    self = [".json", ".jsonl"].contains(where: { target.ends(with: $0) }) ? .json : .sums
  }
}
