import PostgresConnection
import Testing

@Suite("Decimal numbers of many digits")
struct NumericDigitsTests {
    @Test("are refused where they are more than the server has")
    func digits() throws {
        for count in [131_068, 131_069, 131_071, 131_072] {
            let text = String(repeating: "9", count: count)
            #expect((Numeric(text) != nil) == (count <= 131_068), "\(count)")
        }
    }
}
