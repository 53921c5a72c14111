import CoreDataPostgres
import Foundation
import PippinPostgres

// `make bench-postgres`: Pippin against libpq by hand, on the same tables of one server. The server is named by the
// first argument.
guard CommandLine.arguments.count > 1 else { fatalError("The first argument is the URI of a database.") }
let uri = CommandLine.arguments[1]
let size = CommandLine.arguments.count > 2 ? Int(CommandLine.arguments[2]) ?? 100_000 : 100_000

/// What is found must be what was saved.
func check(_ found: Int, _ expected: Int) { precondition(found == expected, "\(found) instead of \(expected)") }

print("work".padding(toLength: 52, withPad: " ", startingAt: 0) + "  by hand     ours  CPU hand  CPU ours factor goal")
try itemWorks(uri, size)
try orderWorks(uri)
try writerWorks(uri)
