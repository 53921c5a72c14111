import StoreEngineContract
import Testing

/// `make test` tries 200 sequences, the same each time; `make fuzz` 10,000.
@Suite("The contract of store engines")
struct SQLiteContractTests {
    @Test("is kept by SQLite in memory")
    func inMemory() throws { try expectNone(ContractRun(SQLiteInMemory(), sequences: 160).reports()) }

    @Test("is kept by SQLite in a file")
    func inFile() throws { try expectNone(ContractRun(SQLiteInFile(), sequences: 40, share: 5).reports()) }

    private func expectNone(_ reports: [String]) {
        for report in reports { Issue.record("\(report)") }
    }
}
