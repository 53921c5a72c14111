import Foundation
import SwiftData
import Testing

/// A model of whose deletion the history tells more.
@Model
final class Loan {
    @Attribute(.preserveValueOnDeletion) var reader: String
    var days: Int

    init(reader: String, days: Int) {
        self.reader = reader
        self.days = days
    }
}

@Suite("The history")
struct HistoryTests {
    @Test("has a transaction for each save, with its author and its changes in order")
    func transactions() throws {
        let library = try Library(Loan.self)
        library.context.author = "desk"
        let loan = Loan(reader: "Emma", days: 7)
        library.context.insert(loan)
        try library.context.save()
        let identifier = loan.persistentModelID
        loan.days = 14
        try library.context.save()
        library.context.delete(loan)
        try library.context.save()
        let found = try library.context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        #expect(found.map(\.author) == ["desk", "desk", "desk"])
        #expect(found.flatMap(\.changes).map(\.changedPersistentIdentifier) == [identifier, identifier, identifier])
        guard case .insert(let insertion)? = found[0].changes.first, insertion is DefaultHistoryInsert<Loan>,
            case .update(let update as DefaultHistoryUpdate<Loan>)? = found[1].changes.first,
            case .delete(let deletion as DefaultHistoryDelete<Loan>)? = found[2].changes.first
        else {
            Issue.record("not an insertion, an update and a deletion: \(found.map(\.changes))")
            return
        }
        #expect(update.updatedAttributes.map { $0 as PartialKeyPath<Loan> } == [\Loan.days])
        #expect(deletion.tombstone[\.reader] as? String == "Emma")
        #expect(deletion.tombstone[\.days] == nil)
        #expect(deletion.tombstone.map { "\($0)" } == ["Emma"])
    }

    @Test("is fetched after a token, by a condition, and in an order")
    func conditions() throws {
        let library = try Library(Loan.self)
        for (author, reader) in [("a", "1"), ("b", "2"), ("a", "3")] {
            library.context.author = author
            library.context.insert(Loan(reader: reader, days: 1))
            try library.context.save()
        }
        let all = try library.context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        let token = all[0].token
        let later = try library.context.fetchHistory(
            HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > token }))
        #expect(later == Array(all[1...]))
        let ours = try library.context.fetchHistory(
            HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > token && $0.author == "a" })
        )
        #expect(ours == [all[2]])
        var descriptor = HistoryDescriptor<DefaultHistoryTransaction>(
            sortBy: [SortDescriptor(\.transactionIdentifier, order: .reverse)])
        descriptor.fetchLimit = 2
        #expect(try library.context.fetchHistory(descriptor) == [all[2], all[1]])
        let decoded = try JSONDecoder().decode(DefaultHistoryToken.self, from: JSONEncoder().encode(token))
        #expect(decoded == token)
    }

    @Test("is deleted from its beginning, and a token in it is expired then")
    func deletion() throws {
        let library = try Library(Loan.self)
        for reader in ["1", "2", "3"] {
            library.context.insert(Loan(reader: reader, days: 1))
            try library.context.save()
        }
        let all = try library.context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        let (first, last) = (all[0].token, all[2].token)
        #expect(throws: SwiftDataError.invalidTransactionFetchRequest) {
            try library.context.deleteHistory(
                HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > first }))
        }
        try library.context.deleteHistory(
            HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token < last }))
        #expect(try library.context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()) == [all[2]])
        #expect(throws: SwiftDataError.historyTokenExpired) {
            try library.context.fetchHistory(
                HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > first }))
        }
    }
}
