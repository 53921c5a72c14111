import Foundation

// A program that starts, and migrates its store: `PostgresMigrationChild inPlace|plan URI`. It prints how many books
// there are.
// `PostgresMigrationChild tales URI SEED` saves texts without end.
if CommandLine.arguments.count == 4, CommandLine.arguments[1] == "tales" {
    do {
        try await Tales.work(at: CommandLine.arguments[2], seed: Int(CommandLine.arguments[3]) ?? 0) {
            FileHandle.standardOutput.write(Data("\($0)\n".utf8))
        }
    } catch {
        FileHandle.standardError.write(Data("\(error)\n".utf8))
        exit(1)
    }
}
guard CommandLine.arguments.count == 3, let way = Shelf.Way(rawValue: CommandLine.arguments[1]) else { exit(64) }
do {
    print(try await Shelf(at: CommandLine.arguments[2]).migrate(way))
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
