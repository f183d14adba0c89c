import Glibc
import MultipartBasics

/// Proves that a ticket is unchanged since it was issued. The holder of a ticket can edit it, and `renew` signs its
/// contents: so the issuer's machine writes an HMAC-SHA-256 into it, over everything that is signed again.
///
/// The key is random, is created with the first ticket, is used for nothing else and stays in the state folder
/// (`ticket-key`, mode 0600). It is not derived from the credentials, because those of a role change within hours.
struct TicketSeal {
  static let name = "ticket-key"
  private static let length = 32
  private let key: [UInt8]

  /// Reads the key; nil if this machine has issued no ticket.
  init?(folder: String) throws(Failure) {
    guard let file = try RecordFolder.home(in: folder)?.file(Self.name, O_RDONLY) else { return nil }
    key = try file.read(most: Self.length + 1)
    guard key.count == Self.length else {
      throw RecordFile.foreign(folder + "/" + Self.name, "is not a key of tickets")
    }
  }

  /// Creates the key if there is none. If two runs do so at once, the first one wins.
  static func made(in folder: String) throws(Failure) -> TicketSeal? {
    if let seal = try TicketSeal(folder: folder) { return seal }
    let key = (0..<length).map { _ in UInt8.random(in: .min ... .max) }
    try RecordFolder.makeHome(in: folder).create(name, with: key)
    return try TicketSeal(folder: folder)
  }

  /// The mark, `KEY.MAC` in hex. The first eight bytes identify the key, so that a ticket of another machine is not
  /// taken for an edited one.
  func mark(_ ticket: Ticket) throws(Failure) -> String {
    let id = try SigningDigest.hmac(key: key, Array("name of a key of tickets".utf8)).prefix(8)
    return Hex.encode(id) + "." + Hex.encode(try SigningDigest.hmac(key: key, Self.text(ticket)))
  }

  func standing(_ ticket: Ticket) throws(Failure) -> Ticket.Standing {
    let own = try Array(mark(ticket).utf8)
    guard let mark = ticket.mark.map({ Array($0.utf8) }), mark.prefix(17) == own.prefix(17) else { return .unknown }
    // Takes the same time wherever the first difference is.
    guard mark.count == own.count else { return .edited }
    return zip(mark, own).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0 ? .asIssued : .edited
  }

  /// The text to authenticate: each field preceded by its length, independent of the JSON's layout; headers in a fixed
  /// order.
  private static func text(_ ticket: Ticket) -> [UInt8] {
    var text: [UInt8] = []
    func add(_ field: String) {
      withUnsafeBytes(of: UInt64(field.utf8.count).bigEndian) { text += $0 }
      text += field.utf8
    }
    func add(_ headers: HeaderList) {
      let fields = headers.fields.map { [$0.name.lowercased(), $0.value] }
        .sorted { $0.joined(separator: ":").utf8.lexicographicallyPrecedes($1.joined(separator: ":").utf8) }
      add(String(fields.count))
      for field in fields.joined() { add(field) }
    }
    add("ticket, version 1")
    for field in [
      ticket.bucket, ticket.key, ticket.uploadID, ticket.url, ticket.created.iso8601, ticket.file ?? "",
    ] { add(field) }
    switch ticket.length {
    case .exactly(let size): add("size \(size)")
    case .upTo(let size): add("max_size \(size)")
    }
    add("\(ticket.partSize) \(ticket.checksum.word) \(ticket.etagMayBeMD5) \(ticket.parts.count)")
    for part in ticket.parts { add(part.headers) }
    add(ticket.complete.headers)
    if !ticket.asked.isEmpty { add(ticket.asked.asked) }
    return text
  }
}

extension Ticket {
  /// The server of a URL, without the bucket in its name.
  fileprivate func server(of url: String) -> (scheme: String, host: String) {
    let origin = String(AddressBook.origin(of: url)).lowercased()
    guard let (scheme, host) = origin.cut(at: "://") else { return ("", origin) }
    return (String(scheme), String(host.rest(after: bucket.lowercased() + ".") ?? host))
  }

  /// The failure if settings lead to another place than the ticket's.
  func isElsewhere(_ other: String) -> Failure {
    Failure(
      .usage, "the ticket is for \(url), but these settings lead to \(other)",
      remedy: "give the \(.endpoint), \(.region) and bucket that it was issued with"
    ).at(place)
  }

  /// What this machine knows of a ticket that comes back.
  public enum Standing: Sendable {
    /// It is what this machine issued.
    case asIssued
    /// This machine issued it, and it was changed since.
    case edited
    /// It was issued by another machine, or its mark was taken out: nothing shows what it was.
    case unknown
  }
}

extension StoreOptions {
  /// Throws if this machine issued the ticket, and it was changed since: it may lead to a server that says of the
  /// object whatever its holder wants.
  func refuseEdited(_ ticket: Ticket) throws(Failure) {
    // Where no key can be read, nothing shows it.
    let environment = environment ?? world?.environment ?? Self.processEnvironment()
    guard case .edited? = try? standing(of: ticket, environment) else { return }
    throw Failure(
      .configuration, "the ticket was edited after this machine issued it, and nothing is done with it",
      remedy: "use the ticket as it was issued, or issue a new one"
    ).at(ticket.place)
  }

  fileprivate func standing(of ticket: Ticket, _ environment: [String: String]) throws(Failure) -> Ticket.Standing {
    guard let folder = stateFolder(environment) else { return .unknown }
    return try TicketSeal(folder: folder)?.standing(ticket) ?? .unknown
  }
}

extension Store {
  /// Whether this machine issued the ticket, and it is still the same.
  public func standing(of ticket: Ticket) throws(Failure) -> Ticket.Standing {
    try options.standing(of: ticket, world.environment)
  }

  /// Throws if this store is not the one that the ticket was issued for: what it says of the upload says nothing.
  func requireAddress(of ticket: Ticket) throws(Failure) {
    let own = try HeadObject(ticket.address()).request().wire(to: endpoint).url
    let (here, there) = (ticket.server(of: own), ticket.server(of: ticket.url))
    // A bucket at AWS may have moved, and another store may be addressed in either form.
    let isHere = endpoint.isAWS ? !Partition.all(ofHost: there.host).isEmpty : here == there
    guard isHere else { throw ticket.isElsewhere(own) }
  }

  /// Throws if the ticket may name another object, upload or right than the one that was issued: then this store's
  /// credentials sign nothing for it.
  func require(_ ticket: Ticket, trustsEdited: Bool) throws(Failure) {
    try options.refuseEdited(ticket)
    try requireAddress(of: ticket)
    switch try standing(of: ticket) {
    case .asIssued, .edited: break
    case .unknown where trustsEdited: break
    case .unknown:
      throw Failure(
        .configuration,
        "nothing here proves that the ticket is the one that was issued: its holder may have added rights to it",
        remedy: "do it on the machine that issued it, or trust what it says now: \(.trustsEdited)"
      ).at(ticket.place)
    }
  }

  /// A ticket without a mark is one all the same: only what signs for it will ask about the mark.
  func mark(_ ticket: inout Ticket) {
    ticket.mark = nil
    do throws(Failure) {
      guard let folder = options.stateFolder(world.environment) else { return }
      ticket.mark = try TicketSeal.made(in: folder)?.mark(ticket)
    } catch {
      world.log(
        0,
        "the ticket has no mark that shows later that it was not edited, so renewing it will need \(.trustsEdited): "
          + error.message)
    }
  }
}
