import Foundation

let url = URL(fileURLWithPath: "/tmp/books.sqlite")

/// Where a program keeps its login.
struct Session {
    func token() async throws -> String { "" }
}

let session = Session()
