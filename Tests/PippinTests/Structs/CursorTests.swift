import Foundation
import Pippin
import TestSupport
import Testing

@Suite("A place in an order as a text")
struct CursorTests {
    struct Size: Codable, Hashable, Sendable {
        var width: Double
    }

    @CoreModel
    struct Item: Equatable {
        let id: UUID
        var title: String
        var price: Decimal?
        var made: Date
        var size = Size(width: 1)
        var count: Int
    }

    private let manager = PersistenceManager(models: Item.self, store: .memory)

    private func item(_ number: Int) -> Item {
        let made = Date(timeIntervalSinceReferenceDate: Double(number % 6) / 3)
        let price: Decimal? = number % 3 == 0 ? nil : Decimal(number % 5)
        var item = Item(id: UUID(), title: "Title \(number % 4)", price: price, made: made, count: number % 2)
        item.size = Size(width: Double(number % 7) / 3)
        return item
    }

    private func fill() async throws { try await manager.save((0..<23).map(item)) }

    private static let orders: [Order<Item>] = [
        [], .ascending(\.title), [.descending(\.price), .ascending(\.made)], .descending(\.size.width),
        [.ascending(\.count), .descending(\.title)],
    ]

    @Test("leads from page to page as the last model does", arguments: 0..<5)
    func pages(order: Int) async throws {
        try await fill()
        let request = ModelRequest(Item.self).sorted(by: Self.orders[order]).limit(4)
        let all = try await manager.fetch(ModelRequest(Item.self).sorted(by: [Self.orders[order], .ascending(\.id)]))
        var (found, cursor): ([Item], String?) = ([], nil)
        repeat {
            let page = try await manager.fetch(request.after(cursor: cursor))
            found += page
            cursor = try page.last.map { try request.cursor(after: $0, in: manager) }
            if let cursor {
                #expect(cursor.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) })
            }
        } while cursor != nil
        #expect(found == all)
    }

    @Test(
        "is refused where it is made up, or belongs to another order",
        arguments: ["", "nonsense", "W10", "W1siK2lkIiwieCJdXQ"])
    func unknown(text: String) async throws {
        try await fill()
        await #expect(throws: PersistenceError.self) {
            try await manager.fetch(ModelRequest(Item.self).after(cursor: text))
        }
        let first = try #require(try await manager.fetch(ModelRequest(Item.self).limit(1)).first)
        let cursor = try ModelRequest(Item.self).sorted(by: .ascending(\.title)).cursor(after: first, in: manager)
        let error = await #expect(throws: PersistenceError.self) {
            try await manager.fetch(ModelRequest(Item.self).sorted(by: .descending(\.title)).after(cursor: cursor))
        }
        #expect(error?.code == .unknownCursor)
    }
}
