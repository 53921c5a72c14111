import Testing

@testable import PostgresEngine

@Suite("Repetitions of a save, as values")
struct SaveRepetitionTests {
    private var repetition = SaveRepetition()

    private mutating func next(
        _ failure: SaveRepetition.Failure, isDecided: Bool = false, isBound: Bool = false
    ) -> SaveRepetition.Step { repetition.next(failure, isDecided: isDecided, isBound: isBound) }

    @Test("Values that are there twice are cleared first, once")
    mutating func sameValues() {
        #expect(!repetition.clearsUniqueValues)
        #expect(next(.sameValues) == .check)
        #expect(repetition.clearsUniqueValues)
        #expect(next(.sameValues) == .fail)
    }

    @Test("Five attempts are made", arguments: [SaveRepetition.Failure.changedRow, .otherTransaction])
    mutating func attempts(failure: SaveRepetition.Failure) {
        let steps = (1...5).map { _ in next(failure) }
        #expect(steps == [.check, .check, .check, .check, .fail])
    }

    @Test("What depends on the transaction keeps it from being repeated after another one was in the way")
    mutating func decided() {
        #expect(next(.otherTransaction, isDecided: true) == .fail)
        #expect(next(.changedRow, isDecided: true) == .check)
    }

    @Test("A lost server is looked for again, however often, unless the work is bound to its connection")
    mutating func lostServer() {
        let steps = (1...7).map { _ in next(.lostServer) }
        #expect(steps.allSatisfy { $0 == .reconnect })
        #expect(next(.lostServer, isBound: true) == .fail)
    }

    @Test("Rows that may not be copied are inserted, also within a longer transaction", arguments: [false, true])
    mutating func refusedCopy(isDecided: Bool) {
        #expect(next(.refusedCopy, isDecided: isDecided) == .insert)
        #expect(!repetition.clearsUniqueValues)
    }
}
