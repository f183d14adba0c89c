import Foundation
import MultipartBasics
@testable import MultipartCore
import Testing

@testable import s3up

/// The title of the terminal and the progress at its tab: who gets them, and what is sent.
@Suite("Terminal signs") struct TerminalSignsTests {
  private static let both = TerminalSigns(title: true, progress: true)

  @Test(
    "A terminal gets the title if it can give its own back, and the progress if it shows it",
    arguments: [
      ("TERM=xterm-256color", true, false), ("TERM=xterm", true, false), ("TERM=xterm-kitty", true, false),
      ("TERM=alacritty", true, false), ("TERM=foot-extra", true, false), ("TERM=rxvt-unicode-256color", true, false),
      ("TERM=xterm-256color WT_SESSION=1f2e", false, true), ("TERM=xterm-256color ConEmuANSI=ON", true, true),
      ("TERM=xterm-256color ConEmuANSI=OFF", true, false),
      ("TERM=xterm-256color VTE_VERSION=8001", true, true), ("TERM=xterm-256color VTE_VERSION=7802", true, false),
      ("TERM=xterm-256color VTE_VERSION=new", true, false), ("TERM=xterm-ghostty TERM_PROGRAM=ghostty", true, true),
      ("TERM=xterm-256color TERM_PROGRAM=WezTerm TERM_PROGRAM_VERSION=20250209-182623-44866cc1", true, true),
      ("TERM=xterm-256color TERM_PROGRAM=WezTerm TERM_PROGRAM_VERSION=20240203-110809-5046fc22", true, false),
      ("TERM=xterm-256color TERM_PROGRAM=iTerm.app TERM_PROGRAM_VERSION=3.6.6", true, true),
      ("TERM=xterm-256color TERM_PROGRAM=iTerm.app TERM_PROGRAM_VERSION=3.10.1", true, true),
      ("TERM=xterm-256color TERM_PROGRAM=iTerm.app TERM_PROGRAM_VERSION=3.6", true, false),
      ("TERM=xterm-256color TERM_PROGRAM=iTerm.app", true, false),
      ("TERM=xterm-256color TERM_PROGRAM=Apple_Terminal", false, false),
      ("TERM=xterm-256color TERM_PROGRAM=vscode", false, false), ("TERM=xterm-256color INSIDE_EMACS=29", false, false),
      ("TERM=tmux-256color TMUX=/tmp/t,1,0 WT_SESSION=1f2e", true, false),
      ("TERM=screen-256color TMUX=/tmp/t,1,0 TERM_PROGRAM=ghostty", true, false),
      ("TERM=screen STY=1.pts VTE_VERSION=8001", false, false), ("TERM=linux", false, false),
      ("TERM=vt100", false, false), ("TERM=xtermish", false, false), ("TERM=dumb WT_SESSION=1f2e", false, false),
      ("WT_SESSION=1f2e", false, false),
    ])
  func who(_ variables: String, title: Bool, progress: Bool) {
    let environment = Dictionary(
      uniqueKeysWithValues: variables.split(separator: " ").map { pair in
        let sides = pair.split(separator: "=", maxSplits: 1).map(String.init)
        return (sides[0], sides[1])
      })
    #expect(TerminalSigns(.auto, environment: environment) == TerminalSigns(title: title, progress: progress))
    #expect(TerminalSigns(.never, environment: environment) == .none)
    let isDumb = ["dumb", nil].contains(environment["TERM"])
    #expect(TerminalSigns(.always, environment: environment) == TerminalSigns(title: !isDumb, progress: progress))
  }

  @Test("The first time the terminal keeps its own title, and in the end gets it back")
  func sequences() {
    #expect(
      Self.both.show("37% a — s3up", 0.379, isFirst: true)
        == "\u{1b}[22;0t\u{1b}]0;37% a — s3up\u{1b}\\\u{1b}]9;4;1;37\u{1b}\\")
    #expect(Self.both.show("a", nil, isFirst: false) == "\u{1b}]0;a\u{1b}\\\u{1b}]9;4;3;0\u{1b}\\")
    #expect(Self.both.takeBack == "\u{1b}[23;0t\u{1b}]9;4;0;0\u{1b}\\")
    #expect(TerminalSigns(title: false, progress: true).show("a", 1, isFirst: true) == "\u{1b}]9;4;1;100\u{1b}\\")
    #expect(TerminalSigns(title: true, progress: false).takeBack == "\u{1b}[23;0t")
  }

  @Test("A name can neither end the title nor send a sequence of its own, and is cut at its beginning")
  func hostile() {
    let names = [
      "a\u{1b}\\b", "a\u{07}b", "a\u{9c}b", "a\u{9d}0;x\u{9c}", "a\u{1b}]0;x\u{07}", "a\u{301}\u{1b}c", "a\nb",
    ]
    for name in names {
      let shown = TerminalSigns(title: true, progress: false)
        .show(TerminalSigns.title(ProgressState(name: name, total: 1)), 0, isFirst: false)
      let inner = shown.unicodeScalars.dropFirst(4).dropLast(2)
      #expect(inner.allSatisfy { $0.value >= 0x20 && !(0x7f..<0xa0).contains($0.value) }, "\(name.debugDescription)")
    }
    let long = String(repeating: "x", count: 200) + "/end.tar"
    let title = TerminalSigns.title(ProgressState(name: long, total: nil))
    #expect(title.contains("…") && title.hasSuffix("/end.tar — s3up") && title.count < 90, "\(title)")
  }

  @Test("Of one object the title has the percentage, or the bytes if the size is not known")
  func texts() {
    var state = ProgressState(name: "backup.tar", total: 1000)
    state.done = 379
    #expect(TerminalSigns.title(state) == "37% backup.tar — s3up")
    state.total = nil
    #expect(TerminalSigns.title(state) == "379 B backup.tar — s3up")
  }

  private final class Paper: Sendable {
    private let written = Locked<[String]>([])
    var pieces: [String] { written.withLock { $0 } }
    var console: Console {
      Console { new in self.written.withLock { $0.append(String(decoding: new, as: UTF8.self)) } }
    }
  }

  @Test(
    "Only what differs is sent; a pause gives the title back, the next frame takes it again, and the end is the end")
  func life() {
    let paper = Paper()
    let inFront = Locked(true)
    let title = TerminalTitle(Self.both, paper.console) { inFront.withLock { $0 } }
    title.finish()
    #expect(paper.pieces.isEmpty)
    let again = TerminalTitle(Self.both, paper.console) { inFront.withLock { $0 } }
    // A run that ends with its first frame would only flicker.
    again.show("0%", 0)
    #expect(paper.pieces.isEmpty)
    again.show("1%", 0.011)
    again.show("1%", 0.019)
    again.show("2%", 0.02)
    again.pause()
    again.pause()
    inFront.withLock { $0 = false }
    again.show("3%", 0.03)
    inFront.withLock { $0 = true }
    again.show("4%", 0.04)
    again.finish()
    again.finish()
    again.show("5%", 0.05)
    #expect(
      paper.pieces == [
        Self.both.show("1%", 0.01, isFirst: true), Self.both.show("2%", 0.02, isFirst: false), Self.both.takeBack,
        Self.both.show("4%", 0.04, isFirst: true), Self.both.takeBack,
      ])
  }
}
