import Glibc
import MultipartCore

Descriptor.ignoreBrokenPipes()
Descriptor.occupyStandardStreams()
Hardening.forbidCoreFiles()
Signals.ofProcess.block()
Task.detached {
  exit(await Runner.run(Argument.ofProcess(), environment: Environment.ofProcess()).rawValue)
}
Signals.ofProcess.wait()
