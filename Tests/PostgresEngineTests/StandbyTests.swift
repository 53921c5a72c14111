import Foundation
import PostgresEngine
import Testing

@Suite("Which standby is read from")
struct StandbyTests {
    @Test("Readings are spread over all")
    func spread() {
        var rotation = StandbyRotation(count: 3)
        #expect(
            (0..<4).map { _ in rotation.candidates(at: .zero) } == [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 1, 2]])
    }

    @Test("One that lags is left out for a second, one that is lost for five")
    func leftOut() {
        var rotation = StandbyRotation(count: 3)
        rotation.note(.lagged, of: 0, at: .seconds(10))
        rotation.note(.lost, of: 1, at: .seconds(10))
        #expect(Set(rotation.candidates(at: .seconds(10.5))) == [2])
        #expect(Set(rotation.candidates(at: .seconds(11))) == [0, 2])
        #expect(Set(rotation.candidates(at: .seconds(15))) == [0, 1, 2])
    }

    @Test("One that answers is back at once")
    func back() {
        var rotation = StandbyRotation(count: 1)
        rotation.note(.lost, of: 0, at: .seconds(1))
        #expect(rotation.candidates(at: .seconds(2)) == [])
        rotation.note(.used, of: 0, at: .seconds(2))
        #expect(rotation.candidates(at: .seconds(2)) == [0])
    }

    @Test("Without servers there is nothing to choose from")
    func none() {
        var rotation = StandbyRotation(count: 0, first: 7)
        #expect(rotation.candidates(at: .zero) == [])
    }

    @Test("A promise is a short text, and later places in the log are more")
    func tokens() throws {
        func token(_ text: String) throws -> NSPostgreSQLReadToken {
            try JSONDecoder().decode(NSPostgreSQLReadToken.self, from: Data("\"\(text)\"".utf8))
        }
        let token1 = try token("16/B374D848")
        #expect(String(decoding: try JSONEncoder().encode([token1]), as: UTF8.self).contains("B374D848"))
        #expect(try token("16/B374D848") < token("16/B374D849"))
        #expect(try token("F/FFFFFFFF") < token("10/0"))
        #expect(throws: (any Error).self) { try token("elsewhere") }
    }
}
