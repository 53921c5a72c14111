import Testing

@testable import StoreEngineContract

/// What comes to an ordered relationship without a place being said comes first, whatever place it had before.
@Suite("Places in ordered relationships")
struct OrderContractTests {
    private func check(_ steps: Step...) throws {
        let difference = try Contract(SQLiteInMemory()).difference(of: steps, .lists)
        #expect(difference == nil, "\(difference ?? "")")
    }

    /// Two lists: 1 with 3 and 4, 2 with 5.
    private let entries = Step.save(
        SaveStep(inserted: [
            Insertion(number: 1, entity: "List", toMany: ["entries": [3, 4]]),
            Insertion(number: 2, entity: "List", toMany: ["entries": [5]]), Insertion(number: 3, entity: "Entry"),
            Insertion(number: 4, entity: "Entry"), Insertion(number: 5, entity: "Entry"),
        ]))

    private let number4 = FetchStep(entity: "Entry", condition: Condition(format: "number == 4"))

    @Test("An object that a save moves, and says no order, is the first")
    func saved() throws {
        try check(
            entries,
            .save(SaveStep(changed: [Edit(number: 4, values: ["list": .object(2)])], saysOrders: false)))
    }

    @Test("An object that a save takes out of its list is the first where it comes back")
    func returned() throws {
        try check(
            entries, .save(SaveStep(changed: [Edit(number: 4, values: ["list": .null])])),
            .save(SaveStep(changed: [Edit(number: 4, values: ["list": .object(1)])], saysOrders: false)))
    }

    @Test("An object that a batch moves is the first")
    func updated() throws {
        try check(entries, .updateBatch(UpdateBatchStep(rows: number4, values: ["list": .object(2)])))
    }

    @Test("An object whose list a batch deletes is the first where it comes to")
    func released() throws {
        let first = FetchStep(entity: "List", condition: Condition(format: "number == 1"))
        try check(
            .save(
                SaveStep(inserted: [
                    Insertion(number: 1, entity: "List", toMany: ["pinned": [3, 4]]),
                    Insertion(number: 2, entity: "List", toMany: ["pinned": [5]]),
                    Insertion(number: 3, entity: "Label"), Insertion(number: 4, entity: "Label"),
                    Insertion(number: 5, entity: "Label"),
                ])), .deleteBatch(DeleteBatchStep(rows: first)),
            .updateBatch(
                UpdateBatchStep(
                    rows: FetchStep(entity: "Label", condition: Condition(format: "number == 4")),
                    values: ["board": .object(2)])))
    }

    @Test("An object that a batch insertion replaces, and moves, is the first")
    func replaced() throws {
        try check(
            .save(
                SaveStep(inserted: [
                    Insertion(number: 1, entity: "List", toMany: ["pinned": [3, 4]]),
                    Insertion(number: 2, entity: "List", toMany: ["pinned": [5]]),
                    Insertion(number: 3, entity: "Label"),
                    Insertion(number: 4, entity: "Label", values: ["name": .text("four")]),
                    Insertion(number: 5, entity: "Label"),
                ])),
            .insertBatch(
                InsertBatchStep(
                    entity: "Label",
                    rows: [.init(number: 6, values: ["name": .text("four"), "board": .object(2)])],
                    conflicts: .replace)))
    }

    @Test("An object that gets another owner, by a relationship without inverse, is the first")
    func owned() throws {
        try check(
            .save(
                SaveStep(inserted: [
                    Insertion(number: 1, entity: "SpecialList", toMany: ["favourites": [5]]),
                    Insertion(number: 2, entity: "SpecialList", toMany: ["favourites": [3, 4]]),
                    Insertion(number: 3, entity: "Entry"), Insertion(number: 4, entity: "Entry"),
                    Insertion(number: 5, entity: "Entry"),
                ])),
            .save(SaveStep(changed: [Edit(number: 1, toMany: ["favourites": [5, 4]])], saysOrders: false)))
    }

    @Test("An object that comes to a relationship to many on both sides is the first")
    func paired() throws {
        try check(
            .save(
                SaveStep(inserted: [
                    Insertion(number: 1, entity: "List", toMany: ["labels": [4, 3]]),
                    Insertion(number: 3, entity: "Label"), Insertion(number: 4, entity: "Label"),
                    Insertion(number: 5, entity: "Label"),
                ])),
            .save(SaveStep(changed: [Edit(number: 1, toMany: ["labels": [4, 3, 5]])], saysOrders: false)),
            .save(SaveStep(changed: [Edit(number: 1, toMany: ["labels": [3, 5]])], saysOrders: false)),
            .save(SaveStep(changed: [Edit(number: 1, toMany: ["labels": [3, 4, 5]])], saysOrders: false)))
    }
}
