/// What the sources of a chain need: the environment, the services, and what only the calling program can do.
package struct CredentialContext: Sendable {
  package let environment: [String: String]
  package let services: ServiceClient
  /// The region that an option or a variable names, for STS; it wins over the profile's.
  package var region: String?
  /// Asks a person for the code of an MFA device; `prompt` names the device. Nil, or throws, if there is nobody to ask.
  package var askCode: (@Sendable (_ prompt: String) async throws(Failure) -> Secret)?
  /// Credentials of the container: for its place in the chain and for `credential_source = EcsContainer`.
  package var container: (any CredentialProvider)?
  /// Credentials of the EC2 machine: last in the chain, and for `credential_source = Ec2InstanceMetadata`.
  package var instance: (any CredentialProvider)?

  package init(services: ServiceClient, region: String? = nil) {
    environment = services.world.environment
    self.services = services
    self.region = region
  }
}
