import CoreData
import Foundation
import Testing

@MainActor @Suite("A decimal number as a fraction")
struct NearestFractionTests {
    @Test("becomes the nearest fraction where a property takes it")
    func properties() throws {
        let context = try Library.inMemory().viewContext
        for text in ["19.99", "49.99", "0.07", "-19.99", "12345.678", "0.1"] {
            let book = context.make("Book", ["price": NSDecimalNumber(string: text)])
            #expect(book.value(forKey: "price") as? Double == Double(text))
            book.setValue(Decimal(string: text), forKey: "price")
            #expect(book.value(forKey: "price") as? Double == Double(text))
        }
    }

    @Test("has the same hash as the fraction that it equals")
    func hashes() {
        for cents in 1...10_000 {
            let decimal = Value.decimal(NSDecimalNumber(mantissa: UInt64(cents), exponent: -2, isNegative: false))
            let fraction = Value.double(Double(cents) / 100)
            #expect(decimal == fraction && Set([decimal]).contains(fraction))
        }
    }
}
