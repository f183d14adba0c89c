import Glibc
import MultipartCore

Descriptor.ignoreBrokenPipes()
Hardening.forbidCoreFiles()
exit(await Runner.run(Argument.ofProcess(), environment: Environment.ofProcess()).rawValue)
