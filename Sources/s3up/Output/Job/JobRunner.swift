import MultipartBasics
import MultipartCore

/// The runner of a CI job: what it understands in a log, and the files that it reads results from.
struct JobRunner: Sendable {
  enum Kind: Sendable { case github, gitlab, other }

  let kind: Kind
  /// The file for Markdown that is shown on the job's page.
  let summary: FilePath?
  /// The file for values that later steps can use.
  let outputs: FilePath?

  /// Variables that each runner sets; recent ones set `CI` too.
  static let marks = [
    "CI", "GITHUB_ACTIONS", "GITLAB_CI", "BUILDKITE", "JENKINS_URL", "TEAMCITY_VERSION", "TF_BUILD", "CIRCLECI",
    "BITBUCKET_BUILD_NUMBER", "CODEBUILD_BUILD_ID",
  ]

  /// Nil outside of a CI job.
  init?(_ environment: [String: String]) {
    func isSet(_ name: String) -> Bool { environment[name].map { !$0.isEmpty && Bool(word: $0) != false } ?? false }
    func file(_ name: String) -> FilePath? {
      environment[name].flatMap { $0.begins(with: "/") ? FilePath($0) : nil }
    }
    guard Self.marks.contains(where: isSet) else { return nil }
    kind = isSet("GITHUB_ACTIONS") ? .github : isSet("GITLAB_CI") ? .gitlab : .other
    summary = kind == .github ? file("GITHUB_STEP_SUMMARY") : nil
    outputs = kind == .github ? file("GITHUB_OUTPUT") : nil
  }

  /// The line that folds the lines after it, until `ends`.
  func begins(_ title: String, at time: Timestamp) -> String? {
    switch kind {
    case .github: "::group::" + Escaped.workflowCommand(title)
    // GitLab interprets these control characters, and hides them.
    case .gitlab: "\u{1b}[0Ksection_start:\(time.seconds):s3up[collapsed=true]\r\u{1b}[0K" + title
    case .other: nil
    }
  }

  func ends(at time: Timestamp) -> String? {
    switch kind {
    case .github: "::endgroup::"
    case .gitlab: "\u{1b}[0Ksection_end:\(time.seconds):s3up\r\u{1b}[0K"
    case .other: nil
    }
  }

  /// The line that annotates a failure, at the file that it is about.
  func mark(_ failure: Failure, _ lines: [String]) -> String? {
    guard kind == .github else { return nil }
    let file = failure.place.file.map { "file=\(Escaped.workflowProperty(SafeText.oneLine($0)))," } ?? ""
    // The title has the name already.
    let text = lines.joined(separator: "\n")
    return "::error \(file)title=s3up::" + Escaped.workflowCommand(String(text.rest(after: "s3up: ") ?? text[...]))
  }
}
