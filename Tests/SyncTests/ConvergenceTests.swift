import Foundation
import PippinSync
import TestSupport
import Testing

/// What users do on a device, by a seed.
struct RandomProgram {
    var random: SplitMix
    private(set) var count = 0

    init(seed: UInt64) { random = SplitMix(state: seed) }

    mutating func step(_ manager: PersistenceManager, _ device: Int) async throws {
        count += 1
        let word = "\(device).\(count)"
        let kind = Int.random(in: 0..<14, using: &random)
        let shelves = try await manager.fetch(Shelf.self, sortedBy: .ascending(\.id))
        let books = try await manager.fetch(Book.self, sortedBy: .ascending(\.id))
        let tags = try await manager.fetch(Tag.self, sortedBy: .ascending(\.id))
        switch kind {
        case 0: try await manager.save(Shelf(id: word, name: word))
        case 1, 2, 3:
            guard var shelf = shelves.randomElement(using: &random) else { break }
            let place = Int.random(in: 0...shelf.books.count, using: &random)
            var book = Book(id: word, title: word, size: Size(pages: count, weight: kind == 1 ? 1.5 : nil))
            if let tag = tags.randomElement(using: &random) { book.tags = [tag] }
            shelf.books.insert(book, at: place)
            try await manager.save(shelf)
        case 4:
            guard var shelf = shelves.randomElement(using: &random), !shelf.books.isEmpty else { break }
            shelf.books.shuffle(using: &random)
            try await manager.save(shelf)
        case 5, 6:
            guard let book = books.randomElement(using: &random) else { break }
            let (id, stock) = (book.id, book.stock + 1)
            try await manager.update(Book.self, where: \.id == id) {
                $0.set(\.stock, to: stock)
                $0.set(\.title, to: word)
            }
        case 7:
            guard var book = books.randomElement(using: &random) else { break }
            (book.note, book.readUpTo, book.printed) = (word, count, Date())
            try await manager.save(book)
        case 8:
            guard let book = books.randomElement(using: &random), Bool.random(using: &random) else { break }
            try await manager.delete(book)
        case 9:
            guard let shelf = shelves.randomElement(using: &random), count % 3 == 0 else { break }
            try await manager.delete(shelf)
        case 10:
            let name = "tag \(Int.random(in: 0..<4, using: &random))"
            if !tags.contains(where: { $0.name == name }) { try await manager.save(Tag(id: word, name: name)) }
        case 11:
            guard var book = books.randomElement(using: &random), let tag = tags.randomElement(using: &random) else {
                break
            }
            if book.tags.contains(tag) { book.tags.remove(tag) } else { book.tags.insert(tag) }
            try await manager.save(book)
        case 12:
            let account = Int.random(in: 0..<4, using: &random)
            if Bool.random(using: &random) {
                try await manager.save(Account(id: account, title: word, balance: Decimal(count)))
            } else {
                try await manager.delete(Account.self, id: account)
            }
        default:
            guard let from = shelves.randomElement(using: &random), let to = shelves.randomElement(using: &random),
                from.id != to.id, let book = from.books.first
            else { break }
            var (source, target) = (from, to)
            source.books.removeFirst()
            target.books.append(book)
            let both = [source, target]
            try await manager.write { try $0.save(both) }
        }
    }
}

@Suite("Three devices and a server", .ownThread)
struct ConvergenceTests {
    private static let seeds = UInt64(ProcessInfo.processInfo.environment["PIPPIN_SYNC_FILE_SEEDS"] ?? "") ?? 4

    @Test("have the same rows once all is sent and heard, whatever was done on each meanwhile")
    func convergence() async throws {
        for seed in 1...Self.seeds { try await Self.run(seed: seed, server: nil) }
    }

    static func run(seed: UInt64, server: StoreLocation?, steps: Int = 60) async throws {
        let shop = try await SyncShop(3, server: server)
        var program = RandomProgram(seed: seed)
        for _ in 0..<steps {
            let device = Int.random(in: 0..<3, using: &program.random)
            try await program.step(shop[device], device)
            if Int.random(in: 0..<6, using: &program.random) == 0 { try await shop.devices[device].sync.finish() }
        }
        try await shop.settle()
        let text = try await shop.serverText()
        for (number, device) in shop.devices.enumerated() {
            let own = try await device.text()
            #expect(own == text, "Seed \(seed), device \(number)")
        }
        await shop.end()
    }
}
