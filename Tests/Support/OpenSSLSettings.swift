/// A configuration of OpenSSL that requires approved algorithms, although no provider has them.
package let fipsOnly = """
  openssl_conf = start
  [start]
  alg_section = properties
  [properties]
  default_properties = fips=yes

  """
