import Testing

@testable import MultipartCore

@Suite("What is handed to a loop", .timeLimit(.minutes(15)))
struct InboxTests {
  private let inbox = Inbox()
  private let answer = Result<Response, Failure>.success(Response(status: 200))

  /// Submits a request, runs `then`, and returns the failure that the waiting caller got.
  private func told(_ identifier: UInt64, _ then: () -> Void) async -> Failure.Code? {
    let result = await withCheckedContinuation { waiter in
      inbox.submit(identifier, Request(method: .get, url: "http://127.0.0.1/"), waiter)
      then()
    }
    guard case .failure(let failure) = result else { return nil }
    return failure.code
  }

  @Test("A cancellation that overtakes its request keeps it from the loop")
  func cancelledEarly() async {
    let identifier = inbox.nextIdentifier()
    inbox.cancel(identifier)
    inbox.cancel(identifier)
    #expect(await told(identifier) {} == .interrupted)
    #expect(inbox.take().isEmpty)
  }

  @Test("A cancellation in time reaches the loop, and one after the answer does not")
  func cancelledLater() async {
    let identifier = inbox.nextIdentifier()
    let code = await told(identifier) {
      inbox.cancel(identifier)
      let mail = inbox.take()
      #expect(mail.requests.map(\.identifier) == [identifier] && mail.cancelled == [identifier])
      inbox.finish(identifier, answer)
    }
    #expect(code == nil)
    inbox.cancel(identifier)
    #expect(inbox.take().isEmpty)
  }

  @Test("A waiting caller gets one result, whatever the loop reports later")
  func once() async {
    let identifier = inbox.nextIdentifier()
    let code = await told(identifier) {
      inbox.finish(identifier, .failure(Failure(.stalled, "first")))
      inbox.finish(identifier, answer)
      inbox.close(Failure(.local, "last"))
    }
    #expect(code == .stalled)
  }

  @Test("The end of a loop reaches callers whose request it never took, and later ones")
  func closed() async {
    let ended = Failure(.local, "the loop has ended")
    let (late, cancelled) = (inbox.nextIdentifier(), inbox.nextIdentifier())
    inbox.cancel(cancelled)
    #expect(await told(inbox.nextIdentifier()) { inbox.close(ended) } == .local)
    #expect(await told(late) {} == .local)
    #expect(await told(cancelled) {} == .interrupted)
  }

  @Test("The end of a loop reaches callers whose request it has taken")
  func closedLater() async {
    let code = await told(inbox.nextIdentifier()) {
      #expect(inbox.take().requests.count == 1)
      inbox.close(Failure(.local, "the loop has ended"))
    }
    #expect(code == .local)
  }
}
