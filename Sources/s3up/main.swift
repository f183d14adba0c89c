import Glibc
import MultipartCore

Descriptor.ignoreBrokenPipes()
Descriptor.occupyStandardStreams()
Hardening.forbidCoreFiles()
let signals = Signals()
Task.detached {
  signals.end(await Runner.run(Argument.ofProcess(), environment: Environment.ofProcess(), signals: signals).rawValue)
}
signals.wait()
