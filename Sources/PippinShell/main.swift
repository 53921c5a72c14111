import Foundation
import StoreReading

StandardStreams.replaceClosed()
signal(SIGPIPE, SIG_IGN)
EndingSignals.block()
exit(Shell.run(Array(CommandLine.arguments.dropFirst())))
