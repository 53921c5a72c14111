import Testing

@testable import Pippin

@Suite("A buffer of models")
struct ModelBufferTests {
    private final class Token {}

    @Test("gives what was added, in order, however much it is", arguments: [0, 1, 64, 65, 1000])
    func order(count: Int) {
        var buffer = ModelBuffer<String>()
        for number in 0..<count { buffer.append("model number \(number)") }
        #expect(buffer.take() == (0..<count).map { "model number \($0)" })
        #expect(buffer.take().isEmpty)
    }

    @Test("lets go of what nobody took")
    func releases() {
        weak var first: Token?
        do {
            var buffer = ModelBuffer<Token>()
            for number in 0..<100 {
                let token = Token()
                if number == 0 { first = token }
                buffer.append(token)
            }
            #expect(first != nil)
        }
        #expect(first == nil)
    }
}
