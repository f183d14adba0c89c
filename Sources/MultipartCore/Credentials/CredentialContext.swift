/// What the places of a chain work with: the environment, the services that are asked, and what only the program around
/// can do or know.
package struct CredentialContext: Sendable {
  package let environment: [String: String]
  package let services: ServiceClient
  /// The region that an option or a variable names, for STS; a profile's own comes behind it.
  package var region: String?
  /// Asks a person for the code that a device shows; `prompt` says which one. Nil, or a failure of its own, where there
  /// is nobody to ask.
  package var askCode: (@Sendable (_ prompt: String) async throws(Failure) -> Secret)?
  /// Credentials that a container's host gives: at its place in the chain and for `credential_source = EcsContainer`.
  package var container: (any CredentialProvider)?
  /// Those of the machine: the last of the chain, and for `credential_source = Ec2InstanceMetadata`.
  package var instance: (any CredentialProvider)?

  package init(services: ServiceClient, region: String? = nil) {
    environment = services.world.environment
    self.services = services
    self.region = region
  }
}
