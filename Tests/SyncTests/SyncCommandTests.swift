import Foundation
import PippinSync
import PostgresServer
import StoreReading
import SyncChild
import TestSupport
import Testing

@testable import PippinPostgresCommand

@Suite("pippin sync", .ownThread)
struct SyncCommandTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func file(_ name: String) -> URL { folder.url.appendingPathComponent("\(name).sqlite") }

    private func manager(_ name: String, keepsHistory: Bool = true) -> PersistenceManager {
        SyncShop.manager(.file(file(name), keepsHistory: keepsHistory ? .always : nil))
    }

    private func run(_ arguments: String...) throws -> String {
        var text = ""
        do { try PostgresCommand.run(arguments) { text += $0 } } catch is SyncCommand.Refused { text += "status 3\n" }
        return text
    }

    /// What `pippin info` says of the sync.
    private func info(_ name: String) throws -> String? {
        let text = InfoText.text(of: try StoreReport(OpenedStore(at: file(name).path, modelPath: nil)))
        let line = text.split(separator: "\n").first { $0.contains("  sync ") }
        return line?.split(separator: " ").dropFirst().joined(separator: " ")
    }

    @Test("brings two files and a server to the same rows, by the models that the files keep")
    func once() async throws {
        let (one, two) = (manager("one"), manager("two"))
        var book = Book(id: "b", title: "Emma", size: Size(pages: 400))
        book.tags = [Tag(id: "t", name: "novel")]
        try await one.save(Shelf(id: "s", name: "Classics", books: [book]))
        try await two.save(Account(id: 1, title: "till", balance: 12.5))
        #expect(try run("sync", file("one").path, file("server").path).hasPrefix("In step with "))
        #expect(try run("sync", file("two").path, file("server").path, "--once").hasPrefix("In step with "))
        _ = try run("sync", file("one").path, file("server").path)
        let text = try await SyncShop.text(one)
        #expect(text.contains("shelf s Classics: b") && text.contains("account 1"))
        #expect(try await SyncShop.text(two) == text)
        #expect(try await SyncShop.text(manager("server")) == text)
        await one.close()
        await two.close()
    }

    @Test("says in “pippin info” where a store is, what is pending and what was refused, and prints what was refused")
    func info() async throws {
        let (one, two) = (manager("one"), manager("two"))
        try await one.save(Book(id: "b", title: "A"))
        try await two.load()
        _ = try run("sync", file("one").path, file("server").path)
        _ = try run("sync", file("two").path, file("server").path)
        try await one.delete(Book.self, id: "b")
        try await two.update(Book.self, where: \.id == "b") { $0.set(\.title, to: "B") }
        try await two.save(Book(id: "c", title: "C"))
        #expect(try info("two") == "at the server's transaction 1, 2 pending, 0 refused")
        _ = try run("sync", file("one").path, file("server").path)
        let text = try run("sync", file("two").path, file("server").path)
        #expect(text.contains("Refused: Book b was not changed: isDeleted") && text.hasSuffix("status 3\n"))
        #expect(try info("two") == "at the server's transaction 3, 0 pending, 1 refused")
        #expect(try info("server") == "a server of 2 devices")
        #expect(try !run("sync", file("two").path, file("server").path, "--discard-refused").contains("status"))
        #expect(try info("two") == "at the server's transaction 3, 0 pending, 0 refused")
        await one.close()
        await two.close()
    }

    @Test("sends the rows that a file had before it had a history, if it is to begin one")
    func rowsBeforeHistory() async throws {
        let one = manager("one", keepsHistory: false)
        var shelf = Shelf(id: "s", name: "Classics")
        shelf.books = (0..<30).map { Book(id: "b\($0)", title: "T\($0)") }
        try await one.save(shelf)
        await one.close()
        let error = #expect(throws: CommandError.self) { try run("sync", file("one").path, file("server").path) }
        #expect(error?.message.contains("--keep-history begins one") == true)
        #expect(!FileManager.default.fileExists(atPath: file("server").path))
        _ = try run("sync", file("one").path, file("server").path, "--keep-history")
        let text = try await SyncShop.text(manager("server"))
        #expect(text.contains("shelf s Classics: b0 b1 b2"))
        #expect(try await SyncShop.text(manager("one")) == text)
    }

    @Test("compares all rows where it is asked to, and prints those that it has repaired")
    func check() async throws {
        let one = manager("one")
        try await one.save([Book(id: "b", title: "A"), Book(id: "c", title: "C")])
        #expect(
            try run("sync", file("one").path, file("server").path, "--check").hasPrefix("All rows are the server's."))
        await one.close()
        try execute("UPDATE ZBOOK SET ZTITLE = 'past the history' WHERE ZID = 'c'", in: file("one"))
        #expect(
            try run("sync", file("one").path, file("server").path, "--check").hasPrefix(
                "Repaired: Book c differed in title\nIn step with "))
        #expect(try await manager("one").find(Book.self, id: "c")?.title == "C")
    }

    /// A process of `pippin-postgres sync --follow`.
    private func follow(_ name: String, _ server: String) throws -> (process: Process, output: Pipe) {
        let (process, output) = (Process(), Pipe())
        process.executableURL = Bundle.main.bundleURL.appendingPathComponent("pippin-postgres")
        process.arguments = ["sync", file(name).path, server, "--follow"]
        process.standardOutput = output
        try process.run()
        return (process, output)
    }

    @Test("goes on with what either side saves, and after a kill where it was", .needsPostgres)
    func follows() async throws {
        let database = try TestDatabase()
        let (one, two) = (manager("one"), manager("two"))
        try await one.save(Book(id: "0", title: "0"))
        try await two.load()
        var (first, output) = try follow("one", database.uri())
        let (second, _) = try follow("two", database.uri())
        defer { for process in [first, second] where process.isRunning { process.terminate() } }
        try await PostgresSyncTests.wait { try await two.find(Book.self, id: "0") != nil }
        for number in 1...5 {
            let (from, to) = number % 2 == 0 ? (one, two) : (two, one)
            try await from.save(Book(id: "\(number)", title: "\(number)"))
            try await PostgresSyncTests.wait { try await to.find(Book.self, id: "\(number)") != nil }
        }
        kill(first.processIdentifier, SIGKILL)
        first.waitUntilExit()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(text.contains("pending\n") && text.contains("in step\n"))
        // Both save while one of the two does not run.
        try await one.save(Book(id: "alone", title: "alone"))
        try await two.save(Book(id: "meanwhile", title: "meanwhile"))
        (first, output) = try follow("one", database.uri())
        try await PostgresSyncTests.wait { try await two.find(Book.self, id: "alone") != nil }
        try await PostgresSyncTests.wait { try await one.find(Book.self, id: "meanwhile") != nil }
        #expect(try await SyncShop.text(one) == SyncShop.text(two))
        first.terminate()
        first.waitUntilExit()
        await one.close()
        await two.close()
    }

    /// A process of `pippin-postgres sync-server`, and the address at which it answers.
    private func serve(_ store: String, tokens: String) throws -> (process: Process, address: String) {
        try Data(tokens.utf8).write(to: tokenList)
        let (process, output) = (Process(), Pipe())
        process.executableURL = Bundle.main.bundleURL.appendingPathComponent("pippin-postgres")
        process.arguments = ["sync-server", store, "--tokens", tokenList.path, "--keep-history"]
        process.standardOutput = output
        try process.run()
        var text = ""
        while !text.hasSuffix("\n") {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { break }
            text += String(decoding: more, as: UTF8.self)
        }
        let address = try #require(text.split(whereSeparator: \.isWhitespace).last.map(String.init))
        #expect(text == "Devices are answered at \(address)\n")
        return (process, address)
    }

    private var tokenList: URL { folder.url.appendingPathComponent("tokens") }

    @Test(
        "reaches a server over HTTP with a token from a file, for a store in a file and in PostgreSQL", .needsPostgres)
    func online() async throws {
        let database = try TestDatabase()
        let (one, two) = (manager("one"), manager("two"))
        try await one.save(Book(id: "b", title: "Emma"))
        try await two.save(Account(id: 1, title: "till", balance: 12.5))
        // The server's store comes from a device that reaches it itself.
        _ = try run("sync", file("one").path, file("server").path)
        _ = try run("sync", file("one").path, database.uri())
        for store in [file("server").path, database.uri()] {
            let (process, address) = try serve(store, tokens: "# Who is let in\n0123456789abcdef anna\n")
            defer { if process.isRunning { process.terminate() } }
            let token = folder.url.appendingPathComponent("token").path
            try Data("0123456789abcdef\n".utf8).write(to: URL(fileURLWithPath: token))
            #expect(try run("sync", file("two").path, address, "--token-file", token) == "In step with \(address).\n")
            try await two.update(Account.self, where: \.id == 1) { $0.set(\.title, to: "till of \(store)") }
            #expect(try run("sync", file("two").path, address, "--token-file", token) == "In step with \(address).\n")
            // Another user's token is taken from the list while the server runs.
            try Data("fedcba9876543210-new anna\n".utf8).write(to: tokenList)
            let error = #expect(throws: CommandError.self) {
                try run("sync", file("two").path, address, "--token-file", token)
            }
            #expect(error?.message.contains("log in") == true || error?.message.contains("token") == true)
            process.terminate()
            process.waitUntilExit()
            _ = try run("sync", file("one").path, store)
            #expect(try await one.find(Account.self, id: 1)?.title == "till of \(store)")
        }
        #expect(try await SyncShop.text(one) == SyncShop.text(two))
        await one.close()
        await two.close()
    }

    @Test(
        "refuses a list of tokens that is missing, has a token that is too short, or one twice, by its line",
        arguments: [
            ("short anna\n", "line 1 of"), ("# x\n0123456789abcdef\n", "line 2 of"),
            ("0123456789abcdef anna\n0123456789abcdef eve\n", "a token that is there already"),
        ])
    func tokens(list: String, reason: String) async throws {
        let server = manager("server")
        try await server.load()
        await server.close()
        let tokens = tokenList.path
        let missing = #expect(throws: CommandError.self) {
            try run("sync-server", file("server").path, "--tokens", tokens)
        }
        #expect(missing?.message.contains("cannot be read") == true)
        try Data(list.utf8).write(to: tokenList)
        let error = #expect(throws: CommandError.self) {
            try run("sync-server", file("server").path, "--tokens", tokens)
        }
        #expect(error?.message.contains(reason) == true)
        #expect(throws: UsageError.self) { try run("sync-server", file("server").path) }
        #expect(throws: UsageError.self) {
            try run("sync-server", file("server").path, "--tokens", tokens, "--port", "70000")
        }
    }

    @Test("names a file that is missing, one that is not a store, and an entity without an identifier")
    func errors() throws {
        var error = #expect(throws: CommandError.self) { try run("sync", file("no").path, file("server").path) }
        #expect(error?.message.contains("does not exist") == true)
        try Data("text".utf8).write(to: file("text"))
        #expect(throws: (any Error).self) { try run("sync", file("text").path, file("server").path) }
        #expect(throws: UsageError.self) { try run("sync", file("one").path) }
        #expect(throws: UsageError.self) { try run("sync", "one", "two", "--once", "--follow") }
        error = nil
    }

    @Test("does the same with a PostgreSQL server, and “pippin info” counts its devices", .needsPostgres)
    func postgres() async throws {
        let database = try TestDatabase()
        let one = manager("one")
        try await one.save(Book(id: "b", title: "Emma"))
        await one.close()
        let two = manager("two")
        try await two.load()
        await two.close()
        #expect(try run("sync", file("one").path, database.uri()).hasPrefix("In step with postgresql://"))
        _ = try run("sync", file("two").path, database.uri())
        let read = manager("two")
        #expect(try await read.find(Book.self, id: "b")?.title == "Emma")
        await read.close()
        #expect(try run("info", database.uri()).contains("Sync: a server of 2 devices"))
        #expect(try info("two") == "at the server's transaction 1, 0 pending, 0 refused")
    }
}
