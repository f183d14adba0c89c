extension Finding {
  /// Masks every text of it: each may contain what a server or its certificate said.
  package func masked(by secrets: SecretsInUse) -> Finding {
    var finding = self
    finding.text = secrets.masked(text)
    finding.remedy = remedy.map { secrets.masked($0) }
    finding.facts = facts.mapValues { Self.masked($0, by: secrets) }
    return finding
  }

  private static func masked(_ fact: JSON, by secrets: SecretsInUse) -> JSON {
    switch fact {
    case .string(let text): .string(secrets.masked(text))
    case .array(let facts): .array(facts.map { masked($0, by: secrets) })
    case .object(let facts): .object(facts.map { ($0.0, masked($0.1, by: secrets)) })
    case .null, .bool, .number: fact
    }
  }
}
