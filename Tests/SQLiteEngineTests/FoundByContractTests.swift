import Testing

@testable import StoreEngineContract

/// What sequences of steps have uncovered, as short as they were found to be.
@Suite("What the contract found")
struct FoundByContractTests {
    private func check(_ model: ContractModel, _ steps: [Step]) throws {
        let difference = try Contract(SQLiteInMemory()).difference(of: steps, model)
        #expect(difference == nil, "\(difference ?? "")")
    }

    @Test("Data that may be kept outside of the store are found by their value")
    func externalData() throws {
        let bytes = PlainValue.bytes([1, 255])
        func find(_ sign: String) -> Step {
            .fetch(FetchStep(entity: "Thing", condition: Condition(format: "large \(sign) \(bytes.format)")))
        }
        try check(
            .values,
            [
                .save(
                    SaveStep(inserted: [
                        Insertion(number: 1, entity: "Thing", values: ["large": bytes]),
                        Insertion(number: 2, entity: "Thing", values: ["large": .bytes([])]),
                        Insertion(number: 3, entity: "Thing"),
                    ])),
                find("=="), find("!="),
            ])
    }

    @Test("Texts that read the same, and differ, are not unique values that objects share")
    func equivalentTexts() throws {
        try check(
            .family,
            [
                .save(
                    SaveStep(inserted: [
                        Insertion(number: 1, entity: "Person", values: ["name": .text("\u{E9}")]),
                        Insertion(number: 2, entity: "Animal", values: ["name": .text("e\u{301}")]),
                        Insertion(number: 3, entity: "Person", values: ["name": .text("x")]),
                        Insertion(number: 4, entity: "Person"),
                    ])),
                // 4 shares the name of 3; 1 and 2 are written along.
                .save(
                    SaveStep(changed: [
                        Edit(number: 1, toMany: ["children": [2]]), Edit(number: 4, values: ["name": .text("x")]),
                    ])),
            ])
    }

    @Test("The ID of an object in a dictionary is of the object's own entity")
    func entitiesInDictionaries() throws {
        try check(
            .family,
            [
                .save(
                    SaveStep(inserted: [
                        Insertion(number: 1, entity: "Person"),
                        Insertion(number: 2, entity: "Dog", values: ["mother": .object(1), "owner": .object(1)]),
                        Insertion(number: 3, entity: "Animal", values: ["mother": .object(2)]),
                    ])),
                .dictionaries(
                    DictionaryStep(
                        fetch: FetchStep(entity: "Being", order: [Order(key: "number")]),
                        columns: [.keyPath("mother"), .keyPath("number"), .keyPath("mother.mother")])),
                .dictionaries(
                    DictionaryStep(
                        fetch: FetchStep(entity: "Being"),
                        columns: [.keyPath("mother"), .computed(name: "all", function: "count:", keyPath: "number")],
                        groupBy: ["mother"])),
            ])
    }

    @Test(
        "A unique value that an object takes from one which was changed meanwhile is a conflict",
        arguments: [false, true])
    func takesFromStale(deletes: Bool) throws {
        let trade = SaveStep(
            changed: [Edit(number: 1, values: ["name": .text("x")])]
                + (deletes ? [] : [Edit(number: 2, values: ["name": .text("y")])]),
            deleted: deletes ? [2] : [], stale: [2])
        try check(
            .shop,
            [
                .save(
                    SaveStep(inserted: [
                        Insertion(number: 1, entity: "Tag"),
                        Insertion(number: 2, entity: "Tag", values: ["name": .text("x")]),
                    ])),
                .save(trade),
            ])
    }

    @Test(
        "A batch update finds its rows before it changes one, also where the condition reads relationships that change")
    func updatesWhatWasFound() throws {
        try check(
            .shop,
            [
                .save(
                    SaveStep(inserted: [
                        Insertion(number: 1, entity: "Category"), Insertion(number: 2, entity: "Category"),
                        Insertion(number: 3, entity: "Category", values: ["parent": .object(1)]),
                    ])),
                // Once 1 lies in 3, that has a child.
                .updateBatch(
                    UpdateBatchStep(
                        rows: FetchStep(
                            entity: "Category",
                            condition: Condition(format: "parent == nil OR children.@min.number == 1")),
                        values: ["parent": .object(3)])),
            ])
    }
}
