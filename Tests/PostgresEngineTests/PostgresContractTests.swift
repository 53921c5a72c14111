import StoreEngineContract
import Testing

/// `make test` tries 200 sequences, the same each time; `PIPPIN_CONTRACT=5000` as many as are named.
@Suite("The contract of store engines", .needsPostgres)
struct PostgresContractTests {
    @Test("is kept by PostgreSQL")
    func contract() throws {
        for report in try ContractRun(PostgresStores(), sequences: 200).reports() { Issue.record("\(report)") }
    }
}
