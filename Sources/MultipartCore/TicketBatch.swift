import Glibc

/// The tickets of many files, one per line, as `ticket issue` writes them for a folder.
public struct TicketBatch: Sendable {
  private let tickets: TicketLines
  /// The endpoint of the first ticket; the others must have the same one.
  public let endpoint: String
  /// When the first of the tickets expires.
  public let expires: Timestamp

  /// Opens the file; `-` is standard input.
  public init(_ path: FilePath) throws(Failure) {
    tickets = try TicketLines(path)
    (endpoint, expires) = (tickets.first.endpoint, tickets.first.expires)
  }

  /// Uploads the files in `folder` that the tickets name, in one run. It starts with `run()`.
  public func upload(
    from folder: FilePath, _ options: StoreOptions = StoreOptions(), _ batch: BatchOptions = BatchOptions(),
    onEvent: @escaping @Sendable (BatchEvent) -> Void = { _ in }
  ) throws(Failure) -> BatchUpload {
    let link = try TicketLink(tickets.first, options)
    let root = try Folder(folder)
    let driver = RunDriver<Uploader>(
      link.transfer.scheduling(hedges: batch.upload.hedges, line: nil, buffers: .possible, world: link.world),
      transport: link.client.transport, origin: tickets.first.origin, world: link.world,
      ahead: ConnectionBounds.ahead(link.transfer, descriptors: ConnectionBounds.descriptors))
    return BatchUpload(
      TicketUploaderMaker(link, batch.upload), batch, driver: driver,
      find: { [tickets, endpoint] give in
        // The same ticket may occur twice, for example after `cat`.
        var earlier = KeysSoFar(filesMayRepeat: true)
        while let ticket = try tickets.next() {
          guard await give(Self.step(ticket, root, endpoint, &earlier)) else { return }
        }
      }, onEvent: onEvent)
  }

  private static func step(
    _ ticket: Ticket, _ root: Folder, _ endpoint: String, _ earlier: inout KeysSoFar
  ) -> UploadStep {
    let name = ticket.file ?? ""
    do throws(Failure) {
      guard ticket.endpoint.utf8.elementsEqual(endpoint.utf8) else {
        throw Ticket.damaged("it leads to another server than the first one of the batch")
      }
      try earlier.add("s3://\(ticket.bucket)/\(ticket.key)", FilePath(name), at: ticket.place)
      let file = try file(name, in: root)
      var item = UploadItem(UploadInput(.entry(file, followsLinks: false)), to: ticket.key)
      item.bucket = ticket.bucket
      item.ticket = ticket
      return .candidate(Candidate(item, size: file.size, inode: file.inode))
    } catch {
      return .failed(error.at(Place(file: name, bucket: ticket.bucket, key: ticket.key)), name: Array(name.utf8))
    }
  }

  /// The file of a ticket. The ticket may come from anyone: its file must be below the folder and reachable without a
  /// link.
  private static func file(_ name: String, in root: Folder) throws(Failure) -> TreeFile {
    let words = Array(name.utf8).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Array.init)
    guard let last = words.last, !name.utf8.contains(0),
      !words.contains(where: { KeyName.isMangled($0[...]) })
    else { throw Ticket.damaged("its file is not one below the folder") }
    let remedy: Wording = "name the folder that the tickets were issued for"
    do throws(ErrorNumber) {
      let folder = try root.folder(below: words.dropLast())
      let status = try folder.status(of: last, followsLinks: false)
      if FolderNames.Kind(status) == .file { return TreeFile(folder: folder, path: Array(name.utf8), status) }
    } catch {
      throw Failure.system(
        .sourceMissing, error.number, "the file of the ticket cannot be opened below the folder", remedy: remedy)
    }
    throw Failure(
      .sourceMissing, "something other than a regular file is in the place of the ticket's file", remedy: remedy)
  }
}
