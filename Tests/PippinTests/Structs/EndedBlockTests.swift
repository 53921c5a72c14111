@testable import Pippin
import Testing

@Suite("What a block is given")
struct EndedBlockTests {
    private let counter: Counter
    private var manager: PersistenceManager { counter.manager }

    init() throws { counter = try Counter(Coin.self) }

    @Test("saves nothing after the block has ended: it throws")
    func written() throws {
        let store = try manager.writeAndWait { $0 }
        let euro = Coin(code: "EUR", worth: 1)
        #expect(throws: PersistenceError.blockEnded) { try store.save(euro) }
        #expect(throws: PersistenceError.blockEnded) { try store.delete(euro) }
        #expect(throws: PersistenceError.blockEnded) {
            try store.update(Coin.self, where: .all) { $0.set(\.worth, to: 2) }
        }
        #expect(try counter.number("SELECT count(*) FROM ZCOIN") == 0)
    }

    @Test("reads nothing after the block has ended, also if the block threw")
    func read() throws {
        let reader = try manager.readAndWait { $0 }
        #expect(throws: PersistenceError.blockEnded) { try reader.fetch(Coin.self) }
        var kept: WriteAccess?
        #expect(throws: CancellationError.self) {
            try manager.writeAndWait { store in
                kept = store
                throw CancellationError()
            }
        }
        #expect(throws: PersistenceError.blockEnded) { try kept?.count(Coin.self) }
    }
}
