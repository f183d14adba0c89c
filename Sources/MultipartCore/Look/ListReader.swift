/// Reads a list page by page. While the caller uses a page, only the next one is being requested.
final class ListReader {
  private let store: Store
  private var walk: ListWalk
  /// The page that is being requested.
  private var ahead: Task<Result<ListObjects.Page, Failure>, Never>?
  private var notes: Set<ListWalk.Note> = []

  init(_ list: ObjectList) {
    store = list.store
    walk = ListWalk(
      store.address, prefix: list.prefix, asked: store.listable(list.prefix), delimiter: list.delimiter,
      versions: list.versions)
    ahead = ask()
  }

  deinit { ahead?.cancel() }

  /// The entries of the next page, which may be none; nil at the end.
  func next() async throws(Failure) -> [ListedEntry]? {
    guard let ahead else { return nil }
    let answer = await withTaskCancellationHandler {
      await ahead.value
    } onCancel: {
      ahead.cancel()
    }
    self.ahead = nil
    let page = try answer.get()
    let entries = try walk.take(page)
    self.ahead = ask()
    for note in walk.notes.subtracting(notes) { store.world.log(0, "\(note.rawValue)") }
    notes = walk.notes
    return entries
  }

  private func ask() -> Task<Result<ListObjects.Page, Failure>, Never>? {
    guard let request = walk.request else { return nil }
    let (client, policy) = (store.client, store.retry)
    return Task {
      do throws(Failure) {
        switch request {
        case .objects(let list): return .success(try await client.perform(list, retrying: policy))
        case .versions(let list): return .success(try await client.perform(list, retrying: policy))
        }
      } catch {
        return .failure(error)
      }
    }
  }
}
