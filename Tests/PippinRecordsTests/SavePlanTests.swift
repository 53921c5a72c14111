import Testing

@testable import PippinRecords
@testable import Pippin

@Suite("A save's plan")
struct SavePlanTests {
    @Test("updates the records that have a model and inserts the other models")
    func updatesAndInserts() {
        let plan = RecordSavePlan(models: ["b", "c"], records: ["a", "b"], shouldOverwrite: false)
        #expect(plan.updates == [RecordSavePlan.Update(record: 1, model: 0)])
        #expect(plan.inserts == [1])
        #expect(plan.deletions.isEmpty)
    }

    @Test("deletes the records without a model when it overwrites")
    func overwrites() {
        let plan = RecordSavePlan(models: ["b"], records: ["a", "b", nil], shouldOverwrite: true)
        #expect(plan.updates == [RecordSavePlan.Update(record: 1, model: 0)])
        #expect(plan.deletions == [0, 2])
    }

    @Test("deletes records that share an identifier with an earlier one, overwriting or not", arguments: [true, false])
    func removesDuplicates(shouldOverwrite: Bool) {
        let plan = RecordSavePlan(models: ["a"], records: ["a", "a", "a"], shouldOverwrite: shouldOverwrite)
        #expect(plan.updates == [RecordSavePlan.Update(record: 0, model: 0)])
        #expect(plan.deletions == [1, 2])
        #expect(plan.inserts.isEmpty)
    }

    @Test("takes the later of two models with the same identifier")
    func laterModelWins() {
        let plan = RecordSavePlan(models: ["a", "b", "a", "b"], records: ["a"], shouldOverwrite: false)
        #expect(plan.updates == [RecordSavePlan.Update(record: 0, model: 2)])
        #expect(plan.inserts == [3])
    }

    @Test("leaves records without an identifier alone unless it overwrites")
    func recordsWithoutIdentifier() {
        let plan = RecordSavePlan(models: ["a"], records: [nil, nil], shouldOverwrite: false)
        #expect(plan.inserts == [0])
        #expect(plan.deletions.isEmpty)
    }
}
