/// A configuration of OpenSSL that asks for approved algorithms where no provider has them.
package let fipsOnly = """
  openssl_conf = start
  [start]
  alg_section = properties
  [properties]
  default_properties = fips=yes

  """
