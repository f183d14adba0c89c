import Glibc
import MultipartCore

Descriptor.ignoreBrokenPipes()
Hardening.noCoreFiles()
exit(await Runner.run(Argument.ofProcess(), environment: Environment.ofProcess()).rawValue)
