import Foundation
import StoreReading

signal(SIGPIPE, SIG_IGN)
EndingSignals.block()
exit(Shell.run(Array(CommandLine.arguments.dropFirst())))
