import Pippin
import TestSupport
import Testing

@Suite("A write in a block that reads")
struct WriteInReadTests {
    @Test("ends a block that goes on to read a store in memory, which keeps no state; the block runs once")
    func memory() async throws {
        let manager = PersistenceManager(models: Coin.self, store: .memory)
        try await manager.load()
        var runs = 0
        let error = #expect(throws: PersistenceError.self) {
            try manager.readAndWait { store in
                runs += 1
                _ = try store.count(Coin.self)
                try manager.writeAndWait { try $0.save(Coin(code: "EUR", worth: 1)) }
                _ = try store.count(Coin.self)
            }
        }
        #expect(error?.code == .conflict)
        #expect(runs == 1)
        #expect(try await manager.count(Coin.self) == 1)
    }

    @Test("is saved, and not seen, where the store keeps the block's state")
    func file() async throws {
        let counter = try Counter(Coin.self)
        let counts = try counter.manager.readAndWait { store in
            let before = try store.count(Coin.self)
            try counter.manager.writeAndWait { try $0.save(Coin(code: "EUR", worth: 1)) }
            return [before, try store.count(Coin.self)]
        }
        #expect(counts == [0, 0])
        #expect(try await counter.manager.count(Coin.self) == 1)
    }

    @Test("waits for nobody, after others have come first in all attempts of the block", .ownThread)
    func amongOthers() async throws {
        let manager = PersistenceManager(models: Coin.self, store: .memory)
        try await manager.load()
        var runs = 0
        try manager.readAndWait { store in
            runs += 1
            _ = try store.count(Coin.self)
            if runs < 16 {
                try elsewhere { try manager.writeAndWait { try $0.save(Coin(code: "EUR", worth: Double(runs))) } }
                _ = try store.count(Coin.self)
            }
            try manager.writeAndWait { try $0.save(Coin(code: "GBP", worth: 1)) }
        }
        #expect(runs == 16)
        #expect(try await manager.count(Coin.self) == 2)
    }
}
