import Foundation
import PippinPostgres

/// Where everything is kept. What differs between a file and a server is in here, and nowhere else.
struct Place {
    let location: StoreLocation
    /// The same, with a history, as a sync needs it.
    let synced: StoreLocation
    /// What to call it; without the password that an address may have.
    let name: String

    /// - Throws: ``UsageError`` for what is neither.
    init(_ text: String) throws {
        if let address = URL(string: text), ["postgresql", "postgres"].contains(address.scheme) {
            (location, synced) = (.postgres(text), .postgres(text, keepsHistory: .always))
            name = "the PostgreSQL database “\(address.lastPathComponent)”"
        } else if text.hasSuffix(".sqlite") {
            let file = URL(fileURLWithPath: text)
            (location, synced) = (.file(file), .file(file, keepsHistory: .always))
            name = file.lastPathComponent
        } else {
            throw UsageError(
                "“\(text)” is neither a command, nor a file named ….sqlite, nor a database at postgresql://…")
        }
    }
}

/// Arguments that make no sense.
struct UsageError: Error {
    let message: String
    init(_ message: String) { self.message = message }
}
