import CoreData
import Testing

@Suite("Descriptions that would contain themselves")
struct DescriptionCircleTests {
    private static func entities() -> (NSEntityDescription, NSEntityDescription) {
        let (car, van) = (NSEntityDescription(), NSEntityDescription())
        (car.name, van.name) = ("Car", "Van")
        car.subentities = [van]
        return (car, van)
    }

    private static func composites() -> (NSCompositeAttributeDescription, NSCompositeAttributeDescription) {
        let (address, place) = (NSCompositeAttributeDescription(), NSCompositeAttributeDescription())
        (address.name, place.name) = ("address", "place")
        address.elements = [place]
        return (address, place)
    }

    private func message(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    @Test("An entity that would inherit from itself is refused with a message") func entity() async {
        let itself = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (car, _) = Self.entities()
            car.subentities = [car]
        }
        #expect(message(itself).contains("“Car” cannot be a subentity of “Car”"))
        let between = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (car, van) = Self.entities()
            van.subentities = [car]
        }
        #expect(message(between).contains("“Car” cannot be a subentity of “Van”"))
    }

    @Test("An attribute that would be its own element is refused with a message") func attribute() async {
        let itself = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (address, _) = Self.composites()
            address.elements = [address]
        }
        #expect(message(itself).contains("“address” cannot be an element of “address”"))
        let between = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (address, place) = Self.composites()
            place.elements = [address]
        }
        #expect(message(between).contains("“address” cannot be an element of “place”"))
    }

    @Test("Two that change places are not taken for a circle") func exchanged() {
        let (car, van) = Self.entities()
        car.subentities = []
        van.subentities = [car]
        #expect(car.superentity === van)
        #expect(van.superentity == nil)
        let (address, place) = Self.composites()
        address.elements = []
        place.elements = [address]
        #expect(place.elements.first === address)
    }
}
