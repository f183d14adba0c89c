import Glibc
import MultipartCore

Descriptor.ignoreBrokenPipes()
Descriptor.occupyStandardStreams()
Hardening.forbidCoreFiles()
let signals = Signals()
let words = Argument.ofProcess()
do throws(Failure) {
  try TaskThreads.shared.prepare()
} catch {
  for line in ErrorText.lines(for: error) { Console.standardError().line(line) }
  signals.end(ExitStatus(error.code).rawValue)
}
Task.begin {
  signals.end(await Runner.run(words, environment: Environment.ofProcess(), signals: signals).rawValue)
}
signals.wait()
