import Foundation
import StoreReading

do {
    try PostgresCommand.run(Array(CommandLine.arguments.dropFirst())) { text in
        FileHandle.standardOutput.write(Data(text.utf8))
    }
} catch is PostgresCommand.Misuse {
    FileHandle.standardError.write(Data((PostgresCommand.usage + "\n").utf8))
    exit(64)
} catch let error as CommandError {
    FileHandle.standardError.write(Data("pippin-postgres: \(error.message)\n".utf8))
    exit(1)
} catch {
    FileHandle.standardError.write(Data("pippin-postgres: \((error as NSError).localizedDescription)\n".utf8))
    exit(1)
}
